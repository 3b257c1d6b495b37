"""Constants of the integration."""

DOMAIN = "groundling"
CONF_LANGUAGE = "language"
CONF_EXPOSED = "exposed_only"
