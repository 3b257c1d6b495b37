"""Conversation entity, which acts, asks, answers or declines."""

from __future__ import annotations

from typing import Literal

from homeassistant.components import conversation
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers import area_registry as ar
from homeassistant.helpers import device_registry as dr
from homeassistant.helpers import intent
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from groundling.errors import GroundlingError
from groundling.home.agent import HomeAgent, HomeReply
from groundling.home.model import load_model

from .const import CONF_EXPOSED, CONF_LANGUAGE
from .home_of import home_of, states_of
from .services import calls_of

_MOST_CONVERSATIONS = 50


async def async_setup_entry(
    hass: HomeAssistant, entry: ConfigEntry, async_add_entities: AddConfigEntryEntitiesCallback
) -> None:
    """Add the conversation entity of a configuration entry."""
    await hass.async_add_executor_job(load_model, entry.data[CONF_LANGUAGE])
    async_add_entities([GroundlingAgent(entry)])


class GroundlingAgent(conversation.ConversationEntity):
    """Conversation agent that uses a model on this machine."""

    _attr_has_entity_name = True
    _attr_name = None
    _attr_supported_features = conversation.ConversationEntityFeature.CONTROL

    def __init__(self, entry: ConfigEntry) -> None:
        self.entry = entry
        self._attr_unique_id = entry.entry_id
        self._attr_name = entry.title
        self._agents: dict[str, HomeAgent] = {}

    @property
    def supported_languages(self) -> list[str] | Literal["*"]:
        """Language of the entry."""
        return [self.entry.data[CONF_LANGUAGE]]

    async def _async_handle_message(
        self,
        user_input: conversation.ConversationInput,
        chat_log: conversation.ChatLog,
    ) -> conversation.ConversationResult:
        """Reply to an utterance, and call the services that carry out its commands."""
        try:
            reply = await self._reply(user_input, chat_log.conversation_id)
        except GroundlingError as error:  # the text is too long, or no entity is exposed
            reply = HomeReply("decline", str(error))
        if reply.kind == "act":
            await self._carry_out(reply, user_input.context)
        chat_log.async_add_assistant_content_without_tools(
            conversation.AssistantContent(user_input.agent_id, reply.text)
        )
        response = intent.IntentResponse(language=user_input.language)
        if reply.kind == "decline":
            response.async_set_error(intent.IntentResponseErrorCode.NO_INTENT_MATCH, reply.text)
        else:
            response.async_set_speech(reply.text)
        return conversation.ConversationResult(
            response=response,
            conversation_id=chat_log.conversation_id,
            continue_conversation=reply.kind == "ask",
        )

    async def _reply(
        self, user_input: conversation.ConversationInput, conversation_id: str
    ) -> HomeReply:
        language = self.entry.data[CONF_LANGUAGE]
        home = home_of(self.hass, language, self.entry.data[CONF_EXPOSED])
        agent = self._agents.pop(conversation_id, None)
        if agent is None:
            agent = HomeAgent(home, load_model(language))
        elif agent.home != home:
            agent.move(home)
        self._agents[conversation_id] = agent
        while len(self._agents) > _MOST_CONVERSATIONS:
            del self._agents[next(iter(self._agents))]
        area, states = self._area(user_input.device_id), states_of(self.hass, home)
        return await self.hass.async_add_executor_job(
            lambda: agent.reply(user_input.text, area=area, states=states)
        )

    async def _carry_out(self, reply: HomeReply, context: object) -> None:
        for command in reply.commands:
            for domain, service, data in calls_of(command, reply.changes):
                await self.hass.services.async_call(
                    domain, service, data, blocking=True, context=context
                )

    def _area(self, device_id: str | None) -> str:
        device = dr.async_get(self.hass).async_get(device_id) if device_id else None
        known = ar.async_get(self.hass).areas
        return device.area_id if device and device.area_id in known else ""
