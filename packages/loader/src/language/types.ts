import type { Json } from '@holdfast/core';
import type { MetadataReading } from '../check/literal.ts';
import type { ToolMetadata } from '../check/types.ts';
import type { Finding } from '../text/diagnostic.ts';

/**
 * Tool files in a language other than JavaScript and TypeScript, which are built in: which files they are, how they are read without
 * running them, and how a call of one is run as a program.
 */
export interface Language {
  /** Differs from that of any other language. */
  readonly name: string;
  /** Whether a file, by its name without folders, is of this language. */
  takes(name: string): boolean;
  /** Whether a file that is of this language is no tool file, such as a test. */
  passesOver(name: string): boolean;
  openReader(): LanguageReader;
  /** What to run for a call. Rejects when the tool cannot be called. `sha256`: digest of the file at `tool.entry`, in hexadecimal. */
  prepare(tool: PinnedTool, input: Json, sha256: string): Promise<ProgramCall>;
  /** What a program that has ended by itself came to. */
  readEnd(tool: PinnedTool, end: ProgramExit): ProgramAnswer;
}

/** Reads the files of a language. Disposed of when a folder has been read. */
export interface LanguageReader extends AsyncDisposable {
  /** What a tool file says of its tool. */
  readTool(file: ToolSource, place: ToolPlace): Promise<ToolReading>;
  /** What a file of a tool needs. */
  readPart(part: LanguagePart): Promise<LanguagePartReading>;
}

/** A tool file as it was read. */
export interface ToolSource {
  /** Relative to the tools folder. */
  readonly file: string;
  /** Absolute, without symlinks. */
  readonly path: string;
  readonly source: string;
  /** SHA-256 of its bytes in hexadecimal. */
  readonly digest: string;
}

export interface ToolPlace {
  /** The tools folder. Absolute, without symlinks. */
  readonly root: string;
  /** Makes errors of warnings. */
  readonly strict: boolean;
}

/** What was found in a tool file. */
export interface ToolReading {
  readonly reading: MetadataReading;
  /** Whether it can be left out without a word: nothing here can read it, and it has not even the word `METADATA`. */
  readonly isNoTool?: boolean;
  /** The files that it names or imports, as far as it alone tells, relative to the tools folder. They may not be there. */
  readonly parts: readonly string[];
  /** See `ScannedFile`. */
  readonly commandFiles?: ReadonlyMap<string, string>;
}

/** A file of the language that belongs to a tool. */
export interface LanguagePart {
  /** Absolute. */
  readonly path: string;
  readonly source: string;
  /** Folder of the tool file. Absolute. */
  readonly base: string;
}

export type LanguagePartReading =
  | {
      readonly type: 'read';
      readonly needs: readonly NeededFile[];
      readonly warning?: { readonly finding: Finding; readonly offset: number };
    }
  | { readonly type: 'refused'; readonly finding: Finding; readonly offset: number };

export interface NeededFile {
  /** Absolute. */
  readonly path: string;
  /** Where the other file asks for it. */
  readonly offset: number;
  /** `part`: a file of the same language, which may need others. `data`: whatever it is, nothing follows from it. */
  readonly kind: 'part' | 'data';
}

/** A verified tool whose bytes are kept. */
export interface PinnedTool {
  /** Relative to the tools folder. */
  readonly file: string;
  readonly metadata: ToolMetadata;
  /** SHA-256 in hexadecimal: of the file and its relative imports where a lock pins them, of the file alone otherwise. */
  readonly digest: string;
  /** Absolute path of the file to import: in the copy named by `digest` where a lock pins it, in the tools folder otherwise. */
  readonly entry: string;
  /**
   * SHA-256 in hexadecimal of every file of the copy, by absolute path: a process of its own lets none run that is another one, however
   * late it is imported. Absent: only `entry` is known.
   */
  readonly files?: ReadonlyMap<string, string>;
  /**
   * SHA-256 in hexadecimal of the files that a command names, by absolute path: what has to hold when it is called. Absent: they lie in
   * a copy, which is compared as a whole.
   */
  readonly commandFiles?: ReadonlyMap<string, string>;
}

/** A program and its parameters. */
export type Command = readonly [program: string, ...parameters: string[]];

/** What to run for a call. */
export interface ProgramCall {
  readonly command: Command;
  /** What it reads on standard input. */
  readonly input: string;
  /** What it needs to see in a sandbox beside the project of the tool. Absolute. */
  readonly folders: readonly string[];
}

/** How a program has ended. */
export interface ProgramExit {
  readonly code: number | null;
  readonly signal: string | null;
  readonly output: Uint8Array;
  /** The end of what it wrote on standard error. */
  readonly lastWords: string;
}

export type ProgramAnswer =
  | { readonly type: 'returned'; readonly value: Json }
  /** The result is no JSON. */
  | { readonly type: 'unfit'; readonly problem: string }
  | { readonly type: 'threw'; readonly error: Error }
  | { readonly type: 'unimportable'; readonly message: string; readonly error: Error }
  /** The file has no function of that name any more. */
  | { readonly type: 'no-function' }
  /** The file is not the one that was verified. */
  | { readonly type: 'changed' }
  /** It ended before it could answer; `how` in words, such as `with code 3`. */
  | { readonly type: 'ended'; readonly how: string }
  /** Its answer cannot be read. */
  | { readonly type: 'unreadable' };
