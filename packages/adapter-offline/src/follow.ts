import type { Json, JsonObject } from '@holdfast/core';
import { type Choice, choose, isContent } from './choose.ts';
import type { Chapter } from './compose.ts';
import { isDestructive, isLooking, isStoring } from './concepts.ts';
import { toArguments } from './fill.ts';
import type { Parameter } from './parameters.ts';
import { type Clause, readClause, readClauses, references } from './reading.ts';
import { contentFor, referTo, titleOf } from './references.ts';
import { planRepair } from './repair.ts';
import { type Finding, pathsIn } from './results.ts';
import { isPreposition } from './roles.ts';
import type { Profile, Toolbox } from './toolbox.ts';
import { isStopWord, type Word } from './words.ts';

/** A call that the request asks for next. */
export interface PlannedCall {
  readonly name: string;
  readonly arguments: JsonObject;
}

/** What became of one clause of the request. */
export type Entry =
  | { readonly type: 'done'; readonly title: string; readonly finding: Finding; readonly isStored: boolean }
  | { readonly type: 'failed'; readonly finding: Finding; readonly repair: Finding | undefined }
  | { readonly type: 'missing'; readonly profile: Profile; readonly parameters: readonly Parameter[] }
  | { readonly type: 'no-tool'; readonly clause: Clause }
  | { readonly type: 'skipped'; readonly clause: Clause; readonly because: 'failed' | 'limit' };

export const maxCalls = 8;

type Follower<Result> = Generator<PlannedCall, Result, Finding>;

/** Where a request stands. */
interface Progress {
  readonly toolbox: Toolbox;
  readonly entries: Entry[];
  /** What was found for former requests of the conversation. */
  readonly earlier: readonly Chapter[];
  calls: number;
}

/**
 * Follows a request clause by clause: yields each call, is given what came of it, and returns what became of every clause.
 * The same request, tools and findings always give the same calls, so a conversation can be picked up by following it again.
 *
 * `earlier` is what was found for former requests of the conversation.
 */
export function* follow(
  clauses: readonly Clause[],
  toolbox: Toolbox,
  earlier: readonly Finding[],
): Follower<readonly Entry[]> {
  const entries: Entry[] = [];
  const chapters = earlier.map((finding) => ({ title: finding.name, finding }));
  const progress: Progress = { toolbox, entries, earlier: chapters, calls: 0 };
  for (const clause of clauses) {
    const last = entries.at(-1);
    if (progress.calls >= maxCalls) entries.push({ type: 'skipped', clause, because: 'limit' });
    else if (clause.refersBack && last !== undefined && last.type !== 'done') {
      entries.push({ type: 'skipped', clause, because: 'failed' });
    } else yield* followClause(clause, progress);
  }
  return entries;
}

function* followClause(clause: Clause, progress: Progress): Follower<void> {
  const { entries, toolbox } = progress;
  // "… and show them to me" is what the answer does anyway.
  if (entries.length > 0 && asksToShow(clause)) return;
  const choice = choose(clause, toolbox, { about: wordsAbout(resultsOf(progress).at(-1)) });
  if (choice === undefined) {
    entries.push({ type: 'no-tool', clause });
    return;
  }
  if (needsContent(choice) && !(clause.refersBack && findingsOf(progress, clause).length > 0)) {
    const isReady = yield* gather(clause, choice, progress);
    if (!isReady) return;
  }
  const { given, missing } = complete(choice, clause, progress);
  if (missing.length > 0) {
    entries.push({ type: 'missing', profile: choice.profile, parameters: missing });
    return;
  }
  for (const each of spread(choice, given, clause, progress)) {
    if (progress.calls >= maxCalls) {
      entries.push({ type: 'skipped', clause, because: 'limit' });
      return;
    }
    yield* perform(choice, each, titleFor(choice, each, clause), progress);
  }
  const target = isLooking(choice.profile.actionConcepts) ? leftTarget(choice, clause) : undefined;
  const last = progress.entries.at(-1);
  if (target === undefined || last?.type !== 'done' || progress.calls >= maxCalls) return;
  const [rest] = readClauses(`write them to ${target}`, toolbox.actionStems, toolbox.objectStems);
  if (rest !== undefined) yield* followClause(rest, progress);
}

/** The file that "collect all tasks into a file named a.md" leaves over when the tasks are collected. */
function leftTarget({ filling }: Choice, { items }: Clause): string | undefined {
  const target = items.find((item, index) => {
    const before = items[index - 1];
    const leads = before?.type === 'word' && /^(?:into|to|as|named|called)$/u.test(before.lower);
    return leads && item.type === 'value' && item.value.kind === 'path' && !filling.used.has(index);
  });
  return target?.type === 'value' ? String(target.value.value) : undefined;
}

/** One call, with at most one repair and one more try. */
function* perform(
  { profile }: Choice,
  given: ReadonlyMap<Parameter, Json>,
  title: string,
  progress: Progress,
): Follower<void> {
  const planned = { name: profile.tool.name, arguments: toArguments(given, profile.parameters) };
  progress.calls += 1;
  let finding = yield planned;
  let repair: Finding | undefined;
  const next = finding.success ? undefined : planRepair(planned, finding, progress.toolbox);
  if (next !== undefined && progress.calls + 2 <= maxCalls) {
    progress.calls += 1;
    repair = yield next;
    if (repair.success) {
      progress.calls += 1;
      finding = yield planned;
    }
  }
  const isStored =
    !isLooking(profile.actionConcepts) && (isStoring(profile.actionConcepts) || isDestructive(profile.actionConcepts));
  progress.entries.push(
    finding.success ? { type: 'done', title, finding, isStored } : { type: 'failed', finding, repair },
  );
}

/** Finds what a clause wants stored: false when that failed, and nothing must be stored. */
function* gather(clause: Clause, choice: Choice, progress: Progress): Follower<boolean> {
  const inner = sourceClause(clause, choice, progress.toolbox);
  const source = choose(inner, progress.toolbox, {
    accept: (profile) => profile !== choice.profile && isLooking(profile.actionConcepts),
  });
  if (source === undefined || source.filling.missing.length > 0) return true;
  yield* perform(source, source.filling.given, titleOf(inner), progress);
  if (progress.entries.at(-1)?.type === 'done') return true;
  progress.entries.push({ type: 'skipped', clause, because: 'failed' });
  return false;
}

/** "Read them" makes no heading: then the file or the tool does. */
function titleFor({ profile, filling }: Choice, given: ReadonlyMap<Parameter, Json>, clause: Clause): string {
  const [path] = pathsIn(toArguments(given, profile.parameters));
  return clause.refersBack || filling.more.size > 0 ? (path ?? profile.tool.name) : titleOf(clause);
}

/** Words for what was found last: that it is text, and the kind of file that it is from. */
function wordsAbout(last: Chapter | undefined): readonly string[] {
  if (last === undefined) return [];
  const endings = [...pathsIn(last.finding.arguments), ...pathsIn(last.finding.value).slice(0, 10)].flatMap(
    (path) => /\.(\w+)$/u.exec(path)?.slice(1) ?? [],
  );
  return ['text', ...(endings.length > 0 ? ['file'] : []), ...endings];
}

/** What a clause can be about: everything that this request has found, else what former ones have if it speaks of that. */
function findingsOf({ entries, earlier }: Progress, clause: Clause): readonly Chapter[] {
  const found = entries.flatMap((entry) => (entry.type === 'done' && !entry.isStored ? [entry] : []));
  return found.length > 0 || !clause.refersBack ? found : earlier;
}

function resultsOf({ entries, earlier }: Progress): readonly Chapter[] {
  const found = entries.flatMap((entry) => (entry.type === 'done' ? [entry] : []));
  return found.length > 0 ? found : earlier;
}

/** "… and show them to me" is what an answer does anyway. */
export function asksToShow({ items, refersBack }: Clause): boolean {
  const words = items.flatMap((item) => (item.type === 'word' ? [item] : []));
  const isShowing = words.some(({ stem }) => /^(?:show|tell|print|display|list|giv|report|present)$/u.test(stem));
  const isPlain = ({ lower, stem }: Word): boolean =>
    isStopWord(lower) ||
    references.has(stem) ||
    /^(?:show|tell|print|display|list|giv|report|present|say|contain)$/u.test(stem);
  return refersBack && isShowing && words.every(isPlain) && items.every(({ type }) => type !== 'value');
}

function needsContent({ profile, filling }: Choice): boolean {
  return filling.missing.some((parameter) => isContent(parameter, profile));
}

/** The clause without what the first choice has taken: in "write a list of all tasks to a.md" the list is to be found first. */
export function sourceClause(clause: Clause, { filling }: Choice, toolbox: Toolbox): Clause {
  const rest = clause.items.filter((item, index) => {
    const leads = item.type === 'word' && isPreposition(item.lower) && filling.used.has(index + 1);
    return !filling.used.has(index) && !leads && index !== clause.verb?.index;
  });
  return readClause(rest, clause.source, toolbox.actionStems, toolbox.objectStems);
}

function complete(
  choice: Choice,
  clause: Clause,
  progress: Progress,
): { readonly given: ReadonlyMap<Parameter, Json>; readonly missing: readonly Parameter[] } {
  const { profile, filling } = choice;
  const given = new Map(filling.given);
  const missing: Parameter[] = [];
  for (const parameter of filling.missing) {
    const role = profile.roles.get(parameter) ?? 'neutral';
    // "Read a.txt and save it" does not say where; the file that it came from is no place for it.
    const isTarget = role === 'path' && needsContent(choice);
    const value = isContent(parameter, profile)
      ? contentFor(clause, findingsOf(progress, clause), given, filling.used)
      : isTarget
        ? undefined
        : referTo(parameter, role, clause, resultsOf(progress));
    if (value === undefined) missing.push(parameter);
    else given.set(parameter, value);
  }
  return { given, missing };
}

/** "Read them" and "read a.md and b.md": one call for each file. Else the one call as it is. */
function spread(
  { profile, filling }: Choice,
  given: ReadonlyMap<Parameter, Json>,
  { items }: Clause,
  progress: Progress,
): readonly ReadonlyMap<Parameter, Json>[] {
  const [several] = filling.more;
  if (several !== undefined) {
    const [parameter, values] = several;
    return [given, ...values.map((value) => new Map([...given, [parameter, value]]))];
  }
  const parameter = filling.missing.find((each) => profile.roles.get(each) === 'path' && !each.isList);
  const last = resultsOf(progress).at(-1);
  const isPlural = items.some((item) => item.type === 'word' && /^(?:them|each|all|those|these)$/u.test(item.lower));
  if (parameter === undefined || last === undefined || !isPlural) return [given];
  const paths = pathsIn(last.finding.value);
  return paths.length < 2 ? [given] : paths.map((path) => new Map([...given, [parameter, path]]));
}
