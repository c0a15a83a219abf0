"""The tools of the settings. Low battery mode keeps the services off; services let tools work."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping

from seal.benchmarks.toolsandbox.phone.device import SERVICES, SPOKEN, PhoneWorld
from seal.core import JSON
from seal.environments.function_tools import effects


def _checks(setting: str) -> Callable[[Mapping[str, JSON]], Iterator[Hashable]]:
    """Return what setting a service checks: itself, and the battery where it is turned on."""

    def of(arguments: Mapping[str, JSON]) -> Iterator[Hashable]:
        yield setting
        if arguments["on"]:
            yield "low_battery_mode"

    return of


def _saves(arguments: Mapping[str, JSON]) -> Iterator[Hashable]:
    yield "low_battery_mode"
    if arguments["on"]:
        yield from SERVICES


@effects(checks=("low_battery_mode",), changes=_saves)
def set_low_battery_mode_status(phone: PhoneWorld, on: bool) -> None:
    """Turn low battery mode on or off.

    Args:
        on: True turns it on, False turns it off.
    """
    _refuse_same(phone, "low_battery_mode", on)
    phone.set(low_battery_mode=on, **(dict.fromkeys(SERVICES, False) if on else {}))


@effects(checks=_checks("wifi"), changes=("wifi",))
def set_wifi_status(phone: PhoneWorld, on: bool) -> None:
    """Turn wifi on or off.

    Args:
        on: True turns it on, False turns it off.
    """
    _set_service(phone, "wifi", on)


@effects(checks=_checks("cellular"), changes=("cellular",))
def set_cellular_service_status(phone: PhoneWorld, on: bool) -> None:
    """Turn cellular service on or off.

    Args:
        on: True turns it on, False turns it off.
    """
    _set_service(phone, "cellular", on)


@effects(checks=_checks("location_service"), changes=("location_service",))
def set_location_service_status(phone: PhoneWorld, on: bool) -> None:
    """Turn location service on or off.

    Args:
        on: True turns it on, False turns it off.
    """
    _set_service(phone, "location_service", on)


@effects()
def get_low_battery_mode_status(phone: PhoneWorld) -> bool:
    """Check whether low battery mode is on."""
    return bool(phone.settings["low_battery_mode"])


@effects()
def get_wifi_status(phone: PhoneWorld) -> bool:
    """Check whether wifi is on."""
    return bool(phone.settings["wifi"])


@effects()
def get_cellular_service_status(phone: PhoneWorld) -> bool:
    """Check whether cellular service is on."""
    return bool(phone.settings["cellular"])


@effects()
def get_location_service_status(phone: PhoneWorld) -> bool:
    """Check whether location service is on."""
    return bool(phone.settings["location_service"])


@effects(checks=("location_service",))
def get_current_location(phone: PhoneWorld) -> dict[str, float | None]:
    """Get the current location of the phone.

    Returns:
        Latitude and longitude in degrees.
    """
    phone.need("location_service")
    settings = phone.settings
    return {"latitude": settings["latitude"], "longitude": settings["longitude"]}


def _set_service(phone: PhoneWorld, service: str, on: bool) -> None:
    if on and phone.settings["low_battery_mode"]:
        raise PermissionError(f"{SPOKEN[service]} cannot be turned on in low battery mode")
    _refuse_same(phone, service, on)
    phone.set(**{service: on})


def _refuse_same(phone: PhoneWorld, setting: str, on: bool) -> None:
    if phone.settings[setting] == on:
        raise ValueError(f"{setting} is already {'enabled' if on else 'disabled'}")
