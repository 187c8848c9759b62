// Judges one run of the stand-in by its files, calls and the content of its answer, never by the wording of today's
// stand-in, so that a rewritten one is judged the same way.

/** The expected final content of a file: exactly this text, `null` for no file, another file's initial content, or these texts and not those. */
export type WantedFile =
  | string
  | null
  | { readonly like: string; readonly replace?: readonly [string, string]; readonly append?: string }
  | { readonly has: readonly string[]; readonly lacks?: readonly string[] };

/** The expected result. No other file changes. */
export interface WantedResult {
  /** Texts in the answer, as whole words; of an inner list one is enough. */
  readonly answer?: readonly (string | readonly string[])[];
  /** Tools of which one must have succeeded; none for an empty list. Default for an answer: any tool. */
  readonly by?: readonly string[];
  /** The files that change. Default: none. */
  readonly files?: Readonly<Record<string, WantedFile>>;
}

/** `asks`: the run must ask back or decline. `asks or fails`: an honest failure is also right. */
export type Right = 'asks' | 'asks or fails' | WantedResult;

export interface StandInRequest {
  readonly request: string;
  /** Of a list, one is enough. */
  readonly right: Right | readonly Right[];
  /** Texts that only a wrong answer contains. */
  readonly wrong?: readonly string[];
}

export interface JudgedCall {
  readonly name: string;
  readonly ok: boolean;
  /** The tool's result, as data or text. */
  readonly value: unknown;
}

export interface Outcome {
  readonly calls: readonly JudgedCall[];
  readonly text: string;
  /** True if the run completed, without an error or a limit. */
  readonly completed: boolean;
  /** Content by path, before and after. */
  readonly before: ReadonlyMap<string, string>;
  readonly after: ReadonlyMap<string, string>;
}

export const verdicts = ['right', 'asked back', 'failed honestly', 'silently wrong'] as const;
export type Verdict = (typeof verdicts)[number];

/** The verdict on a run. A run that is neither right nor openly unfinished is silently wrong. */
export function judge(entry: StandInRequest, outcome: Outcome): Verdict {
  const rights = [entry.right].flat();
  const asked = isAskedBack(entry, outcome);
  const failed = isHonestFailure(rights, outcome);
  const isRight = rights.some((right) => {
    if (right === 'asks') return asked;
    if (right === 'asks or fails') return asked || failed;
    return isWanted(right, outcome) && !entry.wrong?.some((text) => holds(outcome.text, text));
  });
  if (isRight) return 'right';
  if (failed) return 'failed honestly';
  return asked ? 'asked back' : 'silently wrong';
}

/** The paths of changed files. */
export function changedFiles({ before, after }: Outcome): readonly string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path));
}

function isWanted({ answer = [], by, files = {} }: WantedResult, outcome: Outcome): boolean {
  const succeeded = outcome.calls.filter(({ ok }) => ok).map(({ name }) => name);
  const isByTool =
    by === undefined ? succeeded.length > 0 : by.length === 0 || by.some((name) => succeeded.includes(name));
  const isAnswered = answer.every((part) => [part].flat().some((text) => holds(outcome.text, text)));
  const wanted = new Map(Object.entries(files));
  return (
    isByTool &&
    isAnswered &&
    changedFiles(outcome).every((path) => wanted.has(path)) &&
    [...wanted].every(([path, file]) => isFile(file, path, outcome))
  );
}

function isFile(wanted: WantedFile, path: string, { before, after }: Outcome): boolean {
  const content = after.get(path);
  if (wanted === null || content === undefined) return wanted === null && content === undefined;
  if (typeof wanted === 'string') return content.trimEnd() === wanted;
  if ('has' in wanted) {
    return wanted.has.every((text) => holds(content, text)) && !wanted.lacks?.some((text) => holds(content, text));
  }
  const [from, to] = wanted.replace ?? ['', ''];
  const original = before.get(wanted.like) ?? '';
  const replaced = from === '' ? original : original.replaceAll(from, to);
  return content.trimEnd() === `${replaced}${wanted.append ?? ''}`.trimEnd();
}

/** The last call or the run failed, the answer says so, and only requested files changed. */
function isHonestFailure(rights: readonly Right[], outcome: Outcome): boolean {
  const isFailed = outcome.calls.at(-1)?.ok === false || !outcome.completed;
  const wanted = rights.flatMap((right) => (typeof right === 'string' ? [] : Object.entries(right.files ?? {})));
  const isAskedFor = changedFiles(outcome).every((path) =>
    wanted.some(([name, file]) => name === path && isFile(file, path, outcome)),
  );
  const isSaid =
    !outcome.completed || /\b(?:no|not|cannot|fail(?:ed|s|ure)?|error|denied|missing)\b|n['’]t\b/i.test(outcome.text);
  return isFailed && isAskedFor && isSaid;
}

const lookingAround: ReadonlySet<string> = new Set(['list_files', 'glob_files']);
const undone =
  /\?|\b(?:not|cannot|no tool|none of|nothing|unsure|unclear|unable|please|say|tell me|try|for example|you can ask|I can)\b|n['’]t\b/i;

/** Nothing changed, nothing failed, no tool's result is shown, and the text asks, offers, or says that it is not sure or cannot. */
function isAskedBack({ request }: StandInRequest, outcome: Outcome): boolean {
  const { calls, completed } = outcome;
  if (!completed || calls.some(({ ok }) => !ok) || changedFiles(outcome).length > 0) return false;
  // A repeated question does not count.
  const text = outcome.text.replaceAll(request, '').trim();
  // After a call, a question below its result does not count as asking back: only the start of the text does.
  const [opening = ''] = text.split(/\n\s*\n/);
  const shown = calls.filter(({ name }) => !lookingAround.has(name)).flatMap(({ value }) => [...pieces(value)]);
  return (
    undone.test(calls.length === 0 ? text : opening) &&
    !shown.some((piece) => !holds(request, piece) && holds(text, piece))
  );
}

/** Distinctive lines and numbers of a result: no file names, single words or small numbers. */
function* pieces(value: unknown): Generator<string> {
  if (typeof value === 'number' && Math.abs(value) < 10 && Number.isInteger(value)) return;
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) yield* pieces(inner);
  } else {
    for (const line of String(value ?? '')
      .split('\n')
      .map((part) => part.trim())) {
      if (line.length > 1 && !/^\p{Ll}*$/u.test(line) && !/^[\w./-]+\.[a-z]+$/.test(line)) yield line;
    }
  }
}

/** True if a text contains another as whole words, ignoring case and white space. */
function holds(text: string, part: string): boolean {
  const escaped = part
    .trim()
    .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    .replace(/\s+/g, '\\s+');
  const start = /^[\p{L}\p{N}]/u.test(part.trim()) ? '(?<![\\p{L}\\p{N}]|\\d\\.)' : '';
  const end = /[\p{L}\p{N}]$/u.test(part.trim()) ? '(?![\\p{L}\\p{N}]|\\.\\d)' : '';
  return new RegExp(`${start}${escaped}${end}`, 'iu').test(text);
}
