# SEAL with bubblewrap, where runs are written to /work:
#
#     docker build -t seal .
#     docker run --rm -v "$PWD:/work" -e OPENAI_API_KEY seal run sample --model openai/gpt-4o --limit 5
#
# EXTRAS names what else is installed: --build-arg EXTRAS=mcp,worlds,experiments
FROM python:3.13-slim
ARG EXTRAS=mcp,worlds
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home seal
COPY pyproject.toml README.md LICENSE /source/
COPY seal /source/seal
RUN pip install --no-cache-dir "/source[$EXTRAS]" && rm -rf /source
USER seal
WORKDIR /work
ENTRYPOINT ["seal"]
CMD ["--help"]
