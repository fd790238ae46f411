"""The measurements of scripts/bench: paired, interleaved rounds, and ratios of what was measured side by side."""
