"""In the place of JupyterLite's `piplite.piplite`, which installs from other sites."""

__all__ = ["install"]


async def install(requirements, **_options):
    """Refuse, because the site has all that it can load."""
    raise ModuleNotFoundError(f"{requirements}: this site has no other packages to install")
