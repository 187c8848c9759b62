import type { Finding } from './diagnostic.ts';

/** A finding about one of several things that are too much alike. */
export interface TwinFinding {
  readonly index: number;
  readonly finding: Finding;
}

const hint = 'Rename one of them, or remove the one that is not needed.';

/** File names that some file systems, or some readers, cannot tell apart: by case, or by the spelling of an accent. */
export function findFileTwins(files: readonly string[]): readonly TwinFinding[] {
  return compare(files, (file) => file.normalize('NFKC').toLowerCase()).map(({ index, others }) => ({
    index,
    finding: { code: 'tool.file.twin', message: `The file name is hard to tell from ${list(others)}.`, hint },
  }));
}

/** Tool names of several files that are the same, differ in separators only, or (a warning) look the same. */
export function findNameTwins(
  tools: readonly { readonly file: string; readonly name: string }[],
): readonly TwinFinding[] {
  const names = tools.map(({ name }) => name);
  const show = (index: number): string => `\`${names[index] ?? ''}\` in \`${tools[index]?.file ?? ''}\``;
  const same = compare(names, (name) => name);
  const separated = compare(names, (name) => name.replace(/[_-]/g, ''));
  const alike = compare(names, (name) =>
    name.replace(/[_-]/g, '').replaceAll('1', 'l').replaceAll('0', 'o').replaceAll('rn', 'm').replaceAll('vv', 'w'),
  );
  const isIn = (twins: readonly Twin[], index: number): boolean => twins.some((twin) => twin.index === index);
  const describe = (others: readonly number[]): string => others.map(show).join(', ');
  return [
    ...same.map(({ index, at }) => ({
      index,
      finding: {
        code: 'tool.name.duplicate',
        message: `${show(index)} has the same name as ${describe(at)}: all of them are refused.`,
        hint,
      },
    })),
    ...separated
      .filter(({ index }) => !isIn(same, index))
      .map(({ index, at }) => ({
        index,
        finding: {
          code: 'tool.name.twin',
          message: `${show(index)} is hard to tell from ${describe(at)}: all of them are refused.`,
          hint,
        },
      })),
    ...alike
      .filter(({ index }) => !isIn(separated, index))
      .map(({ index, at }) => ({
        index,
        finding: {
          severity: 'warning' as const,
          code: 'tool.name.lookalike',
          message: `${show(index)} looks like ${describe(at)}.`,
          hint,
        },
      })),
  ];
}

interface Twin {
  readonly index: number;
  readonly at: readonly number[];
  readonly others: readonly string[];
}

function compare(texts: readonly string[], fold: (text: string) => string): readonly Twin[] {
  const groups = Map.groupBy(texts.keys(), (index) => fold(texts[index] ?? ''));
  return texts.flatMap((text, index) => {
    const at = (groups.get(fold(text)) ?? []).filter((other) => other !== index);
    return at.length === 0 ? [] : [{ index, at, others: at.map((other) => texts[other] ?? '') }];
  });
}

function list(texts: readonly string[]): string {
  return texts.map((text) => `\`${text}\``).join(', ');
}
