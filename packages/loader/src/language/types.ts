import type { Json } from '@holdfast/core';
import type { MetadataReading } from '../check/literal.ts';
import type { ToolMetadata } from '../check/types.ts';
import type { Finding } from '../text/diagnostic.ts';

/**
 * A language of tool files other than JavaScript and TypeScript, which are built in: recognizes its files, reads them
 * without running them, and runs calls as programs.
 */
export interface Language {
  /** Unique among languages. */
  readonly name: string;
  /** True if a file, by its name without folders, belongs to this language. */
  takes(name: string): boolean;
  /** True if a file of this language is not a tool file, such as a test. */
  passesOver(name: string): boolean;
  openReader(): LanguageReader;
  /**
   * Prepares the program for a call. Rejects if the tool cannot be called. `sha256`: digest of the file at `tool.entry`, in hexadecimal.
   */
  prepare(tool: PinnedTool, input: Json, sha256: string): Promise<ProgramCall>;
  /** Reads the answer of a program that ended by itself. */
  readEnd(tool: PinnedTool, end: ProgramExit): ProgramAnswer;
}

/** Reads the files of a language. Disposed of after reading a folder. */
export interface LanguageReader extends AsyncDisposable {
  /** Reads the metadata of a tool file. */
  readTool(file: ToolSource, place: ToolPlace): Promise<ToolReading>;
  /** Reads the references of a tool's file. */
  readPart(part: LanguagePart): Promise<LanguagePartReading>;
}

/** The content of a tool file. */
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
  /** Turns warnings into errors. */
  readonly strict: boolean;
}

/** The result of reading a tool file. */
export interface ToolReading {
  readonly reading: MetadataReading;
  /** True if it can be silently ignored: unreadable here, and without the word `METADATA`. */
  readonly isNoTool?: boolean;
  /** The files that it names or imports directly, relative to the tools folder. They may not exist. */
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
  /** Offset of the reference in the other file. */
  readonly offset: number;
  /** `part`: a file of the same language, which may refer to others. `data`: any file, nothing in it is followed. */
  readonly kind: 'part' | 'data';
}

/** A verified tool whose bytes are kept. */
export interface PinnedTool {
  /** Relative to the tools folder. */
  readonly file: string;
  readonly metadata: ToolMetadata;
  /** SHA-256 in hexadecimal: with a lock, of the file and its relative imports; otherwise of the file alone. */
  readonly digest: string;
  /** Absolute path of the file to import: with a lock, in the copy named by `digest`; otherwise in the tools folder. */
  readonly entry: string;
  /**
   * SHA-256 in hexadecimal of every file of the copy, by absolute path: a tool's process refuses to load any other
   * content, even late. Absent: only `entry` is known.
   */
  readonly files?: ReadonlyMap<string, string>;
  /**
   * SHA-256 in hexadecimal of the files that a command names, by absolute path, verified on each call. Absent: they are
   * in a copy, which is verified as a whole.
   */
  readonly commandFiles?: ReadonlyMap<string, string>;
}

/** A program and its parameters. */
export type Command = readonly [program: string, ...parameters: string[]];

/** The program run for a call. */
export interface ProgramCall {
  readonly command: Command;
  /** Its standard input. */
  readonly input: string;
  /** Folders that must be visible in a sandbox in addition to the tool's project. Absolute. */
  readonly folders: readonly string[];
}

/** How a program ended. */
export interface ProgramExit {
  readonly code: number | null;
  readonly signal: string | null;
  readonly output: Uint8Array;
  /** The end of its standard error. */
  readonly lastWords: string;
}

export type ProgramAnswer =
  | { readonly type: 'returned'; readonly value: Json }
  /** The result is not JSON. */
  | { readonly type: 'unfit'; readonly problem: string }
  | { readonly type: 'threw'; readonly error: Error }
  | { readonly type: 'unimportable'; readonly message: string; readonly error: Error }
  /** The file no longer has a function of that name. */
  | { readonly type: 'no-function' }
  /** The file differs from the verified one. */
  | { readonly type: 'changed' }
  /** It ended before it could answer; `how` in words, such as `with code 3`. */
  | { readonly type: 'ended'; readonly how: string }
  /** Its answer is unreadable. */
  | { readonly type: 'unreadable' };
