"""Configuration of the integration: the language, and which entities the agent knows."""

from __future__ import annotations

from typing import Any

import voluptuous as vol
from homeassistant.config_entries import ConfigFlow, ConfigFlowResult

from .const import CONF_EXPOSED, CONF_LANGUAGE, DOMAIN


class GroundlingConfigFlow(ConfigFlow, domain=DOMAIN):
    """Configuration flow that asks for the language; each language has one agent."""

    VERSION = 1

    async def async_step_user(self, user_input: dict[str, Any] | None = None) -> ConfigFlowResult:
        """Show the form or, when it is submitted, create the entry."""
        from groundling.home.model import shipped_languages

        languages = await self.hass.async_add_executor_job(shipped_languages)
        if user_input is not None:
            await self.async_set_unique_id(user_input[CONF_LANGUAGE])
            self._abort_if_unique_id_configured()
            title = f"Groundling ({user_input[CONF_LANGUAGE]})"
            return self.async_create_entry(title=title, data=user_input)
        usual = self.hass.config.language.partition("-")[0]
        default = usual if usual in languages else languages[0]
        schema = vol.Schema(
            {
                vol.Required(CONF_LANGUAGE, default=default): vol.In(list(languages)),
                vol.Required(CONF_EXPOSED, default=True): bool,
            }
        )
        return self.async_show_form(step_id="user", data_schema=schema)
