"""Names that the integration uses."""

DOMAIN = "groundling"
CONF_LANGUAGE = "language"
CONF_EXPOSED = "exposed_only"
