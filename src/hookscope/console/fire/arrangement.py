"""How the parts of the fire pane lie beside and below each other: a pure function, and its styles."""

BESIDE, TALL = 100, 34  # cells from which the plan stands beside the composer; lines, below it
FLAT = 17  # lines below which the composer keeps two lines of text
WIDE = 160  # cells from which the screen shows other panes beside this one
PARTS = ("composer", "plan", "run")  # what can be alone: their ids begin with `fire-`
ARRANGEMENTS = ("beside", "tall", "stacked", "flat")


def arrangement(width: int, height: int) -> frozenset[str]:
    """`beside`, `tall` (all below each other), or `stacked` (plan or run), perhaps `flat` too."""
    if width >= BESIDE:
        return frozenset({"beside"})
    if height >= TALL:
        return frozenset({"tall"})
    return frozenset({"stacked", "flat"} if height < FLAT else {"stacked"})


STYLES = """
FirePane {
    layout: vertical;
    & > #fire-top { height: 8; }
    & #fire-side { display: none; height: 1fr; }
    & #fire-runs { display: none; }
    & #fire-composer { height: 1fr; }
    & > #fire-run { height: 1fr; }

    &.-flat > #fire-top { height: 6; }
    &.-flat #fire-help { display: none; }
    &.-plan.-stacked {
        & > #fire-run { display: none; }
        & > #fire-top { height: 1fr; }
        & #fire-composer { height: 8; }
        & #fire-side { display: block; }
    }
    &.-plan.-flat #fire-composer { height: 6; }
    &.-writing.-stacked > #fire-top { height: 14; }
    &.-writing.-plan.-stacked {
        & > #fire-top { height: 1fr; }
        & #fire-composer { height: 14; }
    }
    &.-writing.-flat > #fire-top { height: 9; }
    &.-writing.-plan.-flat {
        & > #fire-top { height: 1fr; }
        & #fire-composer { height: 9; }
    }
    &.-tall {
        & > #fire-top { height: 24; }
        & #fire-side { display: block; height: 9; }
    }
    &.-beside {
        & > #fire-top { height: 45%; layout: horizontal; }
        & #fire-composer { width: 1fr; }
        & #fire-side { display: block; width: 1fr; height: 100%; }
        & #fire-runs { display: block; height: 1fr; }
        & #fire-plan { height: 2fr; }
    }

    &.-zoom-run {
        & > #fire-top { display: none; }
        & > #fire-run { display: block; }
    }
    &.-zoom-composer, &.-zoom-plan {
        & > #fire-run { display: none; }
        & > #fire-top { height: 1fr; }
    }
    &.-zoom-composer {
        & #fire-side { display: none; }
        & #fire-composer { height: 1fr; }
    }
    &.-zoom-plan {
        & #fire-composer { display: none; }
        & #fire-side { display: block; height: 1fr; }
    }
}
"""
