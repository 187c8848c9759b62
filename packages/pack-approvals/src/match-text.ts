/**
 * Whether all of `text` matches `pattern`, in which `*` stands for any number of characters and `?` for one. Takes at most as many steps
 * as the product of the two lengths: when a character does not match, only the last `*` takes one more.
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
