import type { Json } from '@holdfast/core';
import { isNamed } from './choose.ts';
import type { Filling } from './fill.ts';
import type { Parameter } from './parameters.ts';
import type { Draft } from './plan-draft.ts';
import type { Mention } from './plan-mentions.ts';
import type { OrderedClause } from './plan-reading.ts';
import { readersOf } from './plan-tools.ts';
import type { Clause, Item } from './reading.ts';
import type { Profile } from './toolbox.ts';
import { isStopWord } from './words.ts';

/** Places of values that no argument has taken, and that do not only name the tool. */
export function valuesOf({ items }: Clause, { used }: Filling, profile: Profile): readonly number[] {
  return [...items.keys()].filter((at) => {
    const item = items[at];
    if (item?.type !== 'value' || used.has(at)) return false;
    return !(/^(?:capital|code)$/u.test(item.value.kind) && isNamed(item, profile));
  });
}

export interface Spread {
  readonly rows: readonly ReadonlyMap<Parameter, Json>[];
  readonly used: ReadonlySet<number>;
}

/** "The weather in Oslo and in Rome" is two calls: values of one kind for an argument that takes one. */
export function spreadOf({ items }: Clause, filling: Filling, left: readonly number[], profile: Profile): Spread {
  const { given, more } = filling;
  const [several] = more;
  if (several !== undefined) {
    const [parameter, values] = several;
    return { rows: [given, ...values.map((value) => new Map([...given, [parameter, value]]))], used: new Set() };
  }
  const alike = [...given].flatMap(([parameter, value]) => {
    const at = items.findIndex(
      (item, index) => item.type === 'value' && item.value.value === value && filling.used.has(index),
    );
    const item = items[at];
    return item?.type === 'value' && !parameter.isList ? [{ parameter, at, kind: item.value.kind }] : [];
  });
  for (const { parameter, at, kind } of alike) {
    if (!/^(?:capital|code|path|url|email|quoted|formula|date)$/u.test(kind)) continue;
    if (alike.filter((each) => each.kind === kind).length > 1) continue;
    const used: number[] = [];
    for (const next of left) {
      const item = items[next];
      if (item?.type !== 'value' || item.value.kind !== kind || next < at) break;
      const between = items.slice((used.at(-1) ?? at) + 1, next);
      const links = between.every(
        (each) =>
          each.type !== 'value' &&
          (/^[,]$/u.test(each.text) ||
            (each.type === 'word' &&
              (isStopWord(each.lower) ||
                profile.objectStems.includes(each.stem) ||
                parameter.nameStems.includes(each.stem)))),
      );
      if (!links || !between.some((each) => /^(?:,|and)$/u.test(each.type === 'value' ? '' : each.text.toLowerCase())))
        break;
      used.push(next);
    }
    if (used.length === 0) continue;
    const values = used.flatMap((index) => {
      const item = items[index];
      return item?.type === 'value' ? [item.value.value] : [];
    });
    return { rows: [given, ...values.map((value) => new Map([...given, [parameter, value]]))], used: new Set(used) };
  }
  return { rows: [], used: new Set() };
}

/** What the values stand for that no argument takes: an earlier step that has read them, or a new one that does. */
export function findSources(
  left: readonly number[],
  ordered: OrderedClause,
  profile: Profile,
  draft: Draft,
): readonly Mention[] | string {
  const { clause } = ordered;
  const mentions: Mention[] = [];
  for (const at of left) {
    const item = clause.items[at];
    if (item?.type !== 'value') continue;
    const { kind, value } = item.value;
    const earlier = draft.steps.findLast((step) => step.literals.some(([, each]) => each === value));
    if (earlier !== undefined) {
      mentions.push({ type: 'value', at, sources: [{ step: earlier, field: undefined, isFirst: false }] });
      continue;
    }
    if (kind !== 'path' && kind !== 'url') continue;
    const readers = readersOf(kind, profile, draft);
    const [reader, other] = readers;
    if (reader === undefined) continue;
    if (other !== undefined)
      return `\`${profile.tool.name}\` needs what is in ${quote(item)}, and both \`${reader.profile.tool.name}\` and \`${other.profile.tool.name}\` could get it: say which.`;
    const step = draft.add({
      profile: reader.profile,
      ordered,
      given: new Map([[reader.parameter, value]]),
      taken: new Map(),
      about: [],
      isHelp: true,
    });
    mentions.push({ type: 'value', at, sources: [{ step, field: undefined, isFirst: false }] });
  }
  return mentions;
}

/** The clause with words for a text in place of files and addresses. */
export function withoutFiles(clause: Clause): Clause {
  const isFile = (item: Item): boolean => item.type === 'value' && /^(?:path|url)$/u.test(item.value.kind);
  if (!clause.items.some(isFile)) return clause;
  const items = clause.items.map(
    (item): Item =>
      isFile(item) ? { type: 'word', text: 'it', lower: 'it', stem: 'it', start: item.start, end: item.end } : item,
  );
  return { ...clause, items, refersBack: true };
}

/** An item for a message. */
export function quote(item: Item | undefined): string {
  const text = item?.type === 'value' ? String(item.value.value) : (item?.text ?? '');
  return `\`${text.length <= 100 ? text : `${text.slice(0, 99)}…`}\``;
}
