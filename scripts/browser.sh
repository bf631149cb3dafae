# Which specs open a page in Chromium, and whether there is one (sourced).

browser_specs=(WR-13/deleted-by-a-click WR-36/in-the-browser)

browser_is_here() {
  command -v chromium || command -v chromium-browser || command -v google-chrome
} >/dev/null

# only_browser prints the flags that choose those specs.
only_browser() {
  printf -- '--select %s ' "${browser_specs[@]}"
}

# without_browser prints the flags that leave those specs out, none where there is one.
without_browser() {
  browser_is_here || printf -- '--skip %s ' "${browser_specs[@]}"
}
