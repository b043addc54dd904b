"""The pictures in the README, and what draws them."""
