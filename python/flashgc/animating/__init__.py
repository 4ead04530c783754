"""Animations: the drive in a part of a run, event by event."""

from flashgc.animating.animation import Animation
from flashgc.animating.made import animate

__all__ = ["Animation", "animate"]
