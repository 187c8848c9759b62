import type { Finding } from '../text/diagnostic.ts';
import type { Language, LanguageReader } from './types.ts';

/** What a tool file is written in: JavaScript or TypeScript, or a language that was given. */
export type ToolFileKind = 'module' | Language;

/** By the end of its name; `undefined`: no tool file, or one in a language that was not given. */
export function kindOf(file: string, languages: readonly Language[] = []): ToolFileKind | undefined {
  if (/\.m?[jt]s$/.test(file)) return 'module';
  return languages.find((language) => language.takes(nameOf(file)));
}

/** Whether a file counts as one with a tool, or as one that would in a language that was not given. */
export function isToolFileName(name: string, languages: readonly Language[] = []): boolean {
  if (/^[._]|\.(?:test|spec)\.[^.]+$|\.d\.m?ts$/.test(name)) return false;
  const kind = kindOf(name, languages);
  if (kind === undefined) return findKnown(name) !== undefined;
  return kind === 'module' || !kind.passesOver(name);
}

/** Languages with packages of their own. Without one its files are told of, so that no tool is missed. */
const known = [
  {
    files: /^(?!test_|conftest\.py$|setup\.py$).*(?<!_test)\.py$/,
    what: 'a Python file',
    name: 'python',
    package: '@holdfast/loader-python',
  },
  { files: /\.tool\.json$/, what: 'a program', name: 'python', package: '@holdfast/loader-python' },
] as const;

function findKnown(file: string): (typeof known)[number] | undefined {
  return known.find(({ files }) => files.test(nameOf(file)));
}

/** Why a file that `kindOf` has nothing for cannot be read. */
export function missingLanguage(file: string): Finding {
  const { what, name, package: source } = findKnown(file) ?? { what: 'in another language', name: '…', package: '' };
  return {
    code: 'tool.language.missing',
    message: `The file is ${what}, and nothing was given that could read it.`,
    hint: `Install \`${source}\` and load with \`{ languages: [${name}()] }\`; the program brings it.`,
  };
}

function nameOf(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1);
}

/** Readers of languages, each opened when it is first needed. To be disposed of at the end. */
export interface LanguageReaders extends AsyncDisposable {
  of(language: Language): LanguageReader;
}

export function openReaders(): LanguageReaders {
  const readers = new Map<Language, LanguageReader>();
  return {
    of(language) {
      const reader = readers.get(language) ?? language.openReader();
      readers.set(language, reader);
      return reader;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...readers.values()].map((reader) => reader[Symbol.asyncDispose]()));
    },
  };
}
