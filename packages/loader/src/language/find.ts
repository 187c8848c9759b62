import type { Finding } from '../text/diagnostic.ts';
import type { Language, LanguageReader } from './types.ts';

/** The language of a tool file: JavaScript or TypeScript, or one of the given languages. */
export type ToolFileKind = 'module' | Language;

/** By file extension; `undefined`: not a tool file, or in a language that was not given. */
export function kindOf(file: string, languages: readonly Language[] = []): ToolFileKind | undefined {
  if (/\.m?[jt]s$/.test(file)) return 'module';
  return languages.find((language) => language.takes(nameOf(file)));
}

/** True for a file name of a tool in a given language or in a known one that was not given. */
export function isToolFileName(name: string, languages: readonly Language[] = []): boolean {
  if (/^[._]|\.(?:test|spec)\.[^.]+$|\.d\.m?ts$/.test(name)) return false;
  const kind = kindOf(name, languages);
  if (kind === undefined) return findKnown(name) !== undefined;
  return kind === 'module' || !kind.passesOver(name);
}

/** Languages with their own packages. Their files are reported even without the package, so that no tool is missed. */
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

/** Explains why a file that `kindOf` does not recognize cannot be read. */
export function missingLanguage(file: string): Finding {
  const { what, name, package: source } = findKnown(file) ?? { what: 'in another language', name: '…', package: '' };
  return {
    code: 'tool.language.missing',
    message: `The file is ${what}, and its language is not loaded.`,
    hint: `Install \`${source}\` and load with \`{ languages: [${name}()] }\`; the command-line program includes it.`,
  };
}

function nameOf(file: string): string {
  return file.slice(file.lastIndexOf('/') + 1);
}

/** Readers of languages, each opened on first use. Dispose of them at the end. */
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
