import type { Candidate } from './candidates.ts';
import { nameBonus } from './naming.ts';
import type { Parameter } from './parameters.ts';
import type { Item } from './reading.ts';
import { isStopWord, splitName, stemOf } from './words.ts';

/** The places where a clause says one of a parameter's allowed values, or switches a boolean one on or off. */
export function findChoices(parameter: Parameter, items: readonly Item[]): readonly Candidate[] {
  return parameter.choices.length > 0 ? findListed(parameter, items) : findSwitches(parameter, items);
}

function findListed(parameter: Parameter, items: readonly Item[]): readonly Candidate[] {
  const found: Candidate[] = [];
  for (const choice of parameter.choices.slice(0, 100)) {
    const words = splitName(String(choice)).map(stemOf);
    if (words.length === 0) continue;
    for (let from = 0; from + words.length <= items.length; from += 1) {
      const isWhole = sameValue(items[from], String(choice));
      if (!isWhole && !words.every((stem, index) => stemAt(items[from + index]) === stem)) continue;
      const to = isWhole ? from + 1 : from + words.length;
      const naming = nameBonus(parameter.nameStems, items, { from, to });
      found.push({
        parameter,
        value: choice,
        from,
        to,
        score:
          6 +
          naming.bonus +
          sideBonus(parameter, items, from) +
          words.length * 0.1 -
          (isStopWord(String(choice)) ? 1 : 0),
        names: naming.indexes,
      });
    }
  }
  return found;
}

const targets: ReadonlySet<string> = new Set('to into target output destination result'.split(' ').map(stemOf));
const sources: ReadonlySet<string> = new Set('from source input original'.split(' ').map(stemOf));

/** "30 degrees celsius in fahrenheit": what stands at the amount is what one comes from, what stands behind "in" where one goes. */
function sideBonus({ nameStems }: Parameter, items: readonly Item[], from: number): number {
  const isTarget = nameStems.some((stem) => targets.has(stem));
  if (!isTarget && !nameStems.some((stem) => sources.has(stem))) return 0;
  const before = items[from - 1];
  const leadsOn = /^(?:in|to|into|as)$/u.test(wordAt(before));
  const atAmount =
    wordAt(before) === 'from' ||
    [before, items[from - 2]].some((item) => item?.type === 'value' && item.value.kind === 'number');
  if (leadsOn) return isTarget ? 3 : -3;
  if (atAmount) return isTarget ? -3 : 3;
  return 0;
}

const no: ReadonlySet<string> = new Set([
  "don't",
  'not',
  'no',
  'without',
  'never',
  'exclude',
  'excluding',
  'disable',
  'skip',
  'non',
  'un',
]);
const off: ReadonlySet<string> = new Set(['off', 'false', 'no', 'disabled', '0']);
const on: ReadonlySet<string> = new Set(['on', 'true', 'yes', 'enabled', '1']);

/** A boolean's name alone means yes; a "without" before it or an "off" behind it means no. */
function findSwitches(parameter: Parameter, items: readonly Item[]): readonly Candidate[] {
  const { nameStems } = parameter;
  const found: Candidate[] = [];
  for (let from = 0; from < items.length; from += 1) {
    const item = items[from];
    if (item === undefined) continue;
    if (nameStems.length > 0 && nameStems.every((stem, index) => stemAt(items[from + index]) === stem)) {
      const end = from + nameStems.length;
      const state = /^(?:is|to|=|:)$/u.test(wordAt(items[end])) ? end + 1 : end;
      const after = wordAt(items[state]);
      const isStated = on.has(after) || off.has(after);
      const isDenied = [1, 2, 3].some((back) => no.has(wordAt(items[from - back])));
      const names = isStated ? [state] : [];
      found.push({ parameter, value: !isDenied && !off.has(after), from, to: end, score: isStated ? 9 : 7, names });
    } else if (/^(?:on|enabled?|off|disabled?)$/u.test(wordAt(item)) && nameStems.some((stem) => switches.has(stem))) {
      found.push({ parameter, value: /^(?:on|enable)/u.test(wordAt(item)), from, to: from + 1, score: 6, names: [] });
    }
  }
  return found;
}

const switches: ReadonlySet<string> = new Set('on enabled state power active status switch'.split(' ').map(stemOf));

function sameValue(item: Item | undefined, choice: string): boolean {
  return item?.type === 'value' && String(item.value.value).toLowerCase() === choice.toLowerCase();
}

function stemAt(item: Item | undefined): string {
  if (item?.type === 'word') return item.stem;
  return item?.type === 'value' && /^(?:capital|code|number)$/u.test(item.value.kind)
    ? stemOf(String(item.value.value))
    : '';
}

function wordAt(item: Item | undefined): string {
  if (item?.type === 'value') return String(item.value.value).toLowerCase();
  return item === undefined ? '' : item.type === 'word' ? item.lower : item.text;
}
