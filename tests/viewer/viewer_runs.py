"""What the runs that are shown are made of."""

IDS = ("own/a", "own/b", "own/c")
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>"
