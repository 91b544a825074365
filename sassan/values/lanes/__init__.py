"""Values of lanes: the functions of the language of effects (`isa/effects.py`) over words of a thread, with agreement."""
