/**
 * True if all of `text` matches `pattern`, in which `*` matches any characters and `?` one. Takes at most as many steps as the product
 * of the two lengths: on a mismatch only the last `*` is extended.
 */
export function matchText(pattern: string, text: string): boolean {
  let at = 0;
  let place = 0;
  let star = -1;
  let taken = 0;
  while (at < text.length) {
    const wanted = pattern[place];
    if (wanted === '*') {
      star = place;
      taken = at;
      place += 1;
    } else if (wanted === '?' || (wanted !== undefined && wanted === text[at])) {
      at += 1;
      place += 1;
    } else if (star >= 0) {
      taken += 1;
      at = taken;
      place = star + 1;
    } else {
      return false;
    }
  }
  while (pattern[place] === '*') place += 1;
  return place === pattern.length;
}
