import type { ToolReading } from '../language/types.ts';
import type { Finding } from '../text/diagnostic.ts';

/** A finding about one of several things that are too much alike. */
export interface TwinFinding {
  readonly index: number;
  readonly finding: Finding;
}

const hint = 'Rename one of them, or remove the one that is not needed.';

/** File names that some file systems, or some readers, cannot tell apart: by case, or by the spelling of an accent. */
export function findFileTwins(files: readonly string[]): readonly TwinFinding[] {
  const show = (index: number): string => `\`${files[index] ?? ''}\``;
  return compare(files, (file) => file.normalize('NFKC').toLowerCase()).map(({ index, at }) => ({
    index,
    finding: { code: 'tool.file.twin', message: `The file name is hard to tell from ${list(at, show)}.`, hint },
  }));
}

/** Tool names of several files that are the same, differ in separators only, or (a warning) look the same. */
export function findNameTwins(
  tools: readonly { readonly file: string; readonly name: string }[],
): readonly TwinFinding[] {
  const names = tools.map(({ name }) => name);
  const show = (index: number): string => `\`${names[index] ?? ''}\` in \`${tools[index]?.file ?? ''}\``;
  const same = compare(names, (name) => name);
  const separated = compare(names, toTwinKey);
  const alike = compare(names, (name) =>
    toTwinKey(name).replaceAll('1', 'l').replaceAll('0', 'o').replaceAll('rn', 'm').replaceAll('vv', 'w'),
  );
  const [isSame, isSeparated] = [same, separated].map((twins) => new Set(twins.map(({ index }) => index)));
  const describe = (problem: string, words: string, severity: 'error' | 'warning' = 'error') => {
    return ({ index, at }: Twin): TwinFinding => {
      const message = `${show(index)} ${words.replace('…', list(at, show))}.`;
      return { index, finding: { severity, code: `tool.name.${problem}`, message, hint } };
    };
  };
  return [
    ...same.map(describe('duplicate', 'has the same name as …: all of them are refused')),
    ...separated
      .filter(({ index }) => isSame?.has(index) !== true)
      .map(describe('twin', 'is hard to tell from …: all of them are refused')),
    ...alike
      .filter(({ index }) => isSeparated?.has(index) !== true)
      .map(describe('lookalike', 'looks like …', 'warning')),
  ];
}

/** The same for tool names of which no two may be in force. */
export function toTwinKey(name: string): string {
  return name.replace(/[_-]/g, '');
}

interface Twin {
  readonly index: number;
  /** Some of the others, or all. */
  readonly at: readonly number[];
}

// Of thousands of twins, each names a few: naming them all would fill the memory.
const maxNamed = 5;

function compare(texts: readonly string[], fold: (text: string) => string): readonly Twin[] {
  const groups = Map.groupBy(texts.keys(), (index) => fold(texts[index] ?? ''));
  const twins = [...groups.values()].filter((group) => group.length > 1);
  return twins
    .flatMap((group) => {
      const first = group.slice(0, maxNamed + 2);
      return group.map((index) => ({ index, at: first.filter((other) => other !== index).slice(0, maxNamed + 1) }));
    })
    .sort((left, right) => left.index - right.index);
}

function list(at: readonly number[], show: (index: number) => string): string {
  const named = at.slice(0, maxNamed).map(show).join(', ');
  return at.length > maxNamed ? `${named} and others` : named;
}

/** The files of a folder that are no tool files because they belong to one. */
export interface BelongingFiles {
  readonly files: ReadonlySet<string>;
  /** Tools that are none any more, by the command that names them. */
  readonly findings: readonly { readonly file: string; readonly finding: Finding }[];
}

/**
 * Whatever a good command names belongs to it, and so does what says nothing of a tool itself and is named or imported by any file: a bad
 * file costs no good one. A good tool that only belongs to a command is told; `strict` has no such command.
 */
export function findBelonging(found: ReadonlyMap<string, ToolReading>, strict: boolean): BelongingFiles {
  const files = new Set([...found].flatMap(([file, { isNoTool }]) => (isNoTool === true ? [file] : [])));
  const findings: { file: string; finding: Finding }[] = [];
  for (const [file, { commandFiles, reading, parts }] of found) {
    const isGood = commandFiles !== undefined && reading.type === 'read';
    const hidden = isGood ? parts.filter((part) => part !== file && found.get(part)?.reading.type === 'read') : [];
    findings.push(...hidden.map((part) => ({ file, finding: toFinding(part, strict) })));
    const isOwner = isGood && !(strict && hidden.length > 0);
    for (const part of parts) if (part !== file && (isOwner || isPlain(found.get(part)))) files.add(part);
  }
  return { files, findings };
}

/** Whether it says nothing of a tool at all. */
function isPlain(found: ToolReading | undefined): boolean {
  return found?.reading.diagnostics.some(({ code }) => code === 'tool.metadata.missing') === true;
}

function toFinding(part: string, strict: boolean): Finding {
  const message = `\`${part}\` is a tool itself, and as a file of this command it is none.`;
  const hint = 'Take its METADATA away, or do not name it here.';
  return { severity: strict ? 'error' : 'warning', code: 'tool.command.hides', message, hint };
}
