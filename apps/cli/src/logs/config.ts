import type { LogRecord } from '@holdfast/session';
import type { LineStyle } from '../calls/line.ts';
import { readTerms } from '../run/terms.ts';
import { toPrintable, wrapBlock } from '../terminal/text.ts';

/** The plugins and packs that the last run of a log was begun with; none where nothing was configured. */
export function describeConfig(records: Iterable<LogRecord>, { colors, columns }: LineStyle): readonly string[] {
  const { config } = readTerms(records, Number.POSITIVE_INFINITY) ?? {};
  if (config === undefined) return [];
  const { file, plugins, packs, allowTools, denyTools } = config;
  const rows: readonly (readonly [label: string, names: readonly string[] | undefined])[] = [
    ['config', file === null ? undefined : [file]],
    [
      'plugins',
      plugins.map(({ name, version, prefix }) => `${name} ${version}${prefix === undefined ? '' : ` as ${prefix}`}`),
    ],
    ['guards', packs.map(({ id, version, preset }) => `${id} ${version} (${preset})`)],
    ['allowed', allowTools?.length === 0 ? ['no tool'] : allowTools],
    ['denied', denyTools],
  ];
  return rows.flatMap(([label, names = []]) =>
    names.length === 0
      ? []
      : wrapBlock(`${label.padEnd(7)}  ${toPrintable(names.join(', '))}`, Math.min(columns, 140) - 1).map((line) =>
          colors.dim(line),
        ),
  );
}
