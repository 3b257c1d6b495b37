"""Words of the generated instructions."""

from __future__ import annotations

__all__ = [
    "ACTS",
    "ADJECTIVES",
    "DIRECTIONS",
    "MANNERS",
    "MATERIALS",
    "MEASURES",
    "MOVES",
    "NUMBERED",
    "NUMBERS",
    "ORDINALS",
    "PARTICLE_VERBS",
    "PATHS",
    "PLACES",
    "PUTS",
    "THINGS",
]

THINGS = """
hall hallway corridor door window wall room stair corner intersection junction crossing alley
path street road bridge gate garden tree river lake hill mountain forest tower castle church farm
mill cave harbour beach cliff monument swamp field fence well camp village house shop
chair table sofa lamp desk bed stool shelf bookcase cabinet easel rack bench mirror painting
picture statue plant clock carpet rug floor tile block square cube circle piece row column line
cell card coin token card grid corner line gap tower stack pile box crate bin tray ball key
cup mug plate bowl spoon fork knife pan pot lid kettle bottle jar carrot onion egg apple cake
oven stove sink fridge drawer cupboard counter towel sponge robot arm gripper camera sensor
wheel battery conveyor pallet tool hammer wrench screw cable button switch lever handle panel
sword shield bow arrow potion chest treasure monster dragon guard knight king ladder rope torch
"""
MATERIALS = """
brick stone wood metal glass grass gravel marble steel plastic paper kitchen garden office hotel
coffee tea tool coat hat fish bus train park school corner table door gold silver iron computer
"""
ADJECTIVES = """
red blue green yellow white black grey pink brown orange purple wooden stone big small long short
tall wide narrow old new empty full open closed dark bright round square flat left right top bottom
upper lower middle last next other same far near nearest closest first main broken clean dirty
sharp hot cold fresh large tiny plain bare final leftmost rightmost heavy light
"""
ORDINALS = "first second third fourth fifth last next other"
NUMBERS = "two three four five six seven eight nine ten"
NUMBERED = "row column block room step position number square gate platform floor level"
MEASURES = """
steps blocks times squares segments spaces metres meters feet inches centimetres degrees paces
places rows tiles miles cells units minutes
"""
MOVES = """
go go go walk walk turn turn turn move move move head head run drive continue proceed travel step
march climb advance return come rotate spin swing curve loop sneak fly hop slide back stop start
finish stay stand wait bear veer keep jump
"""
DIRECTIONS = """
left right left right forward forward straight straight ahead back around up down north south east
west over away forwards backwards backward onward clockwise upwards downwards out
"""
PATHS = (
    "to/to/to/to/toward/towards/into/through/past/down/up/along/across/around/round/over"
    "/under/from/out of/onto/beyond"
)
PLACES = (
    "in/in/on/on/on/at/near/by/beside/next to/behind/under/above/below/between/against/inside"
    "/outside/opposite/underneath/beneath/within/over/across from/close to"
)
PUTS = "put place set leave lay drop move stack position store hang keep slide push line"
ACTS = """
take grab remove clear delete open close push pull lift hold cut chop slice peel wash clean stir mix
heat boil fry bake add fill empty bring fetch carry move press touch find get build break swap flip
rotate collect buy sell attack kill fight avoid use unlock lock drop throw catch kick draw erase
check scan inspect read count sort match join align circle eliminate eat drink cover wipe turn cross
"""
PARTICLE_VERBS = (
    "pick up/put down/take out/turn on/turn off/switch on/switch off/take off/fill up/clean up"
    "/cross out/set up/throw out/pick up/cut off/hand over/line up/fill in"
)
MANNERS = "slowly quickly carefully gently twice again now first there here completely well once"
