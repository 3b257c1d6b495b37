"""How things were chosen: dated notes, and the scripts behind them; not part of the package."""
