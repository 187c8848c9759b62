import type { Json } from '@holdfast/core';
import type { MetadataForm } from './check-metadata.ts';
import type { ExportedFunction } from './exported-function.ts';
import type { Report } from './report.ts';

type FunctionForm = Exclude<MetadataForm, 'definition' | 'command'>;

interface Words {
  write(name: string): string;
  missing(name: string): string;
  others(names: string, name: string): string;
}

const words: Readonly<Record<FunctionForm, Words>> = {
  metadata: {
    write: (name) => `Write \`export function ${name}(input) { … }\``,
    missing: (name) => `The file does not export \`${name}\`.`,
    others: (names, name) => `It exports ${names}: name one of these, or export \`${name}\`.`,
  },
  python: {
    write: (name) => `Write \`def ${name}(…):\``,
    missing: (name) => `The file defines no function \`${name}\` at its top level.`,
    others: (names) => `It defines ${names}: name one of these.`,
  },
};

/** Checks `function` against what the file has; `undefined` when it names nothing. */
export function checkFunction(
  name: Json | undefined,
  { form, findFunction }: { readonly form: FunctionForm; findFunction(name: string): ExportedFunction },
  report: Report,
): ExportedFunction | undefined {
  const path = ['function'];
  const { write, missing, others } = words[form];
  if (typeof name !== 'string' || name === '') {
    report({
      code: 'tool.function.missing',
      path,
      message: '`function` must name the exported function that does the work.',
      hint: "Add for example `function: 'runWeather'`.",
    });
    return undefined;
  }
  const exported = findFunction(name);
  if (exported.type === 'not-exported') {
    const names = exported.exported.map((other) => `\`${other}\``).join(', ');
    report({
      code: 'tool.function.not_exported',
      path,
      message: missing(name),
      hint: names === '' ? `${write(name)}.` : others(names, name),
    });
  } else if (exported.type === 'not-function') {
    report({
      code: 'tool.function.not_function',
      path,
      message: `\`${name}\` cannot be seen to be a function: it is ${exported.found}.`,
      hint: `${write(name)} in this file.`,
    });
  }
  return exported;
}
