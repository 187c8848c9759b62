import type { ToolReading } from '../language/types.ts';
import type { Finding } from '../text/diagnostic.ts';

/** A finding about one of several similar names. */
export interface TwinFinding {
  readonly index: number;
  readonly finding: Finding;
}

const hint = 'Rename one of them, or remove one.';

/** Finds file names that some file systems or readers cannot tell apart, by case or accent encoding. */
export function findFileTwins(files: readonly string[]): readonly TwinFinding[] {
  const show = (index: number): string => `\`${files[index] ?? ''}\``;
  return compare(files, (file) => file.normalize('NFKC').toLowerCase()).map(({ index, at }) => ({
    index,
    finding: {
      code: 'tool.file.invalid',
      reason: 'twin',
      message: `The file name is hard to distinguish from ${list(at, show)}.`,
      hint,
    },
  }));
}

/** Finds tool names of several files that are equal, differ only in separators, or (a warning) look alike. */
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
  const describe = (kind: Pick<Finding, 'code' | 'reason'>, words: string, severity: 'error' | 'warning' = 'error') => {
    return ({ index, at }: Twin): TwinFinding => {
      const message = `${show(index)} ${words.replace('…', list(at, show))}.`;
      return { index, finding: { severity, ...kind, message, hint } };
    };
  };
  return [
    ...same.map(
      describe({ code: 'tool.invalid', reason: 'name.duplicate' }, 'has the same name as …: all are refused'),
    ),
    ...separated
      .filter(({ index }) => isSame?.has(index) !== true)
      .map(
        describe(
          { code: 'tool.metadata.invalid', reason: 'name.twin' },
          'is hard to distinguish from …: all are refused',
        ),
      ),
    ...alike
      .filter(({ index }) => isSeparated?.has(index) !== true)
      .map(describe({ code: 'tool.metadata.invalid', reason: 'name.lookalike' }, 'looks like …', 'warning')),
  ];
}

/** Tool names with the same key cannot be active together. */
export function toTwinKey(name: string): string {
  return name.replace(/[_-]/g, '');
}

interface Twin {
  readonly index: number;
  /** Some or all of the others. */
  readonly at: readonly number[];
}

// Each finding names only a few: thousands of twins would otherwise fill memory.
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

/** Files that are not tool files because they belong to one. */
export interface BelongingFiles {
  readonly files: ReadonlySet<string>;
  /** Tools that do not count because a command names their file. */
  readonly findings: readonly { readonly file: string; readonly finding: Finding }[];
}

/**
 * A file that a valid command names belongs to it, and so does a file without any metadata that another file names or imports: a bad file
 * does not affect valid ones. A valid tool that belongs to a command is reported; under `strict`, it refuses the command.
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

/** True if it contains no metadata. */
function isPlain(found: ToolReading | undefined): boolean {
  return found?.reading.diagnostics.some(({ code }) => code === 'tool.metadata.missing') === true;
}

function toFinding(part: string, strict: boolean): Finding {
  const message = `\`${part}\` is a tool itself, but does not count as one because this command names its file.`;
  const hint = 'Remove its METADATA, or do not name it here.';
  return { severity: strict ? 'error' : 'warning', code: 'tool.command.invalid', reason: 'hides', message, hint };
}
