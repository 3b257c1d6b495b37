"""The component in a running Home Assistant: setup, command, question, clarification, decline."""

import pytest
from homeassistant.components import conversation
from homeassistant.config_entries import SOURCE_USER
from homeassistant.core import Context
from homeassistant.data_entry_flow import FlowResultType
from homeassistant.helpers import area_registry as ar
from homeassistant.helpers import entity_registry as er
from homeassistant.setup import async_setup_component
from pytest_homeassistant_custom_component.common import MockConfigEntry, async_mock_service

DOMAIN = "groundling"
AGENT = "conversation.groundling_en"


@pytest.fixture
async def house(hass):
    """Set up the component in a home with two lamps in one area, and a lock."""
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})
    den = ar.async_get(hass).async_create("Den")
    registry = er.async_get(hass)
    for domain, name, state in (
        ("light", "Desk Lamp", "off"),
        ("light", "Floor Lamp", "on"),
        ("lock", "Front Door", "locked"),
    ):
        slug = name.lower().replace(" ", "_")
        entry = registry.async_get_or_create(domain, "test", slug, suggested_object_id=slug)
        registry.async_update_entity(entry.entity_id, area_id=den.id)
        hass.states.async_set(entry.entity_id, state, {"friendly_name": name})
    entry = MockConfigEntry(
        domain=DOMAIN, title="Groundling (en)", data={"language": "en", "exposed_only": False}
    )
    entry.add_to_hass(hass)
    assert await hass.config_entries.async_setup(entry.entry_id)
    await hass.async_block_till_done()
    return entry


async def say(hass, text, conversation_id=None):
    return await conversation.async_converse(
        hass, text, conversation_id, Context(), language="en", agent_id=AGENT
    )


async def test_config_flow_makes_one_entry_per_language(hass):
    assert await async_setup_component(hass, "homeassistant", {})
    assert await async_setup_component(hass, "conversation", {})
    flow = await hass.config_entries.flow.async_init(DOMAIN, context={"source": SOURCE_USER})
    assert flow["type"] is FlowResultType.FORM
    made = await hass.config_entries.flow.async_configure(
        flow["flow_id"], {"language": "en", "exposed_only": True}
    )
    assert made["type"] is FlowResultType.CREATE_ENTRY
    again = await hass.config_entries.flow.async_init(DOMAIN, context={"source": SOURCE_USER})
    refused = await hass.config_entries.flow.async_configure(
        again["flow_id"], {"language": "en", "exposed_only": True}
    )
    assert (refused["type"], refused["reason"]) == (FlowResultType.ABORT, "already_configured")


async def test_commands_call_services(hass, house):
    calls = async_mock_service(hass, "homeassistant", "turn_on")
    result = await say(hass, "turn on the desk lamp")
    assert [each.data["entity_id"] for each in calls] == ["light.desk_lamp"]
    assert result.response.speech["plain"]["speech"] == "Turned on Desk Lamp."
    assert not result.continue_conversation


async def test_questions_are_answered_and_nothing_is_called(hass, house):
    calls = async_mock_service(hass, "homeassistant", "turn_on")
    locks = async_mock_service(hass, "lock", "lock")
    result = await say(hass, "is the front door locked?")
    assert result.response.speech["plain"]["speech"] == "Yes: Front Door is locked."
    assert not calls
    assert not locks


async def test_one_of_several_is_asked_about_and_the_answer_understood(hass, house):
    calls = async_mock_service(hass, "homeassistant", "turn_on")
    question = await say(hass, "turn on the lamp")
    assert question.continue_conversation
    assert not calls
    answer = await say(hass, "the desk lamp", question.conversation_id)
    assert [each.data["entity_id"] for each in calls] == ["light.desk_lamp"]
    assert not answer.continue_conversation


async def test_what_is_not_understood_is_declined(hass, house):
    result = await say(hass, "tell me a joke")
    assert result.response.error_code == "no_intent_match"


async def test_the_agent_is_taken_away_with_its_entry(hass, house):
    assert await hass.config_entries.async_unload(house.entry_id)
    await hass.async_block_till_done()
    assert hass.states.get(AGENT).state == "unavailable"
