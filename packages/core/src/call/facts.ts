import type { Json } from '../basics/json.ts';

/**
 * The effects of a call, as far as its tool and input reveal them. JSON. Unknown parts are listed in `unclear`; facts are not a sandbox.
 */
export interface CallFacts {
  /** Each command of a pipeline, list, substitution or wrapper, in source order. */
  readonly runs: readonly Command[];
  readonly reads: readonly Place[];
  readonly writes: readonly Place[];
  readonly deletes: readonly Place[];
  readonly hosts: readonly Host[];
  /** True if the result contains text of outsiders: a page, a mail, an issue. */
  readonly untrusted: boolean;
  readonly unclear: readonly Unclear[];
}

/** Facts in a record, with long texts and lists cut. */
export interface RecordedFacts extends CallFacts {
  /** Set if something was left out. */
  readonly cut?: true;
}

/** A program that a call starts. */
export interface Command {
  /** As written, without the folders of system programs: `git`, `./build.sh`. */
  readonly program: string;
  /** `null`: any number of words, unknown until the command runs. */
  readonly arguments: readonly (string | null)[];
  /** Absolute working directory; absent if unknown. */
  readonly folder?: string;
  /** Names of the variables set for it. */
  readonly environment: readonly string[];
  /** True if the call's success proves this command's success. */
  readonly decides: boolean;
  /** True if the call does not wait for its end. */
  readonly background: boolean;
  /** Positions in `runs` of the commands that succeeded when this one starts, as with `&&`. */
  readonly after: readonly number[];
  /** True if it runs a file that this session wrote. */
  readonly written: boolean;
}

/** A file or folder. */
export interface Place {
  /** Absolute, links resolved. */
  readonly path: string;
  /** True if it is in the workspace. */
  readonly inside: boolean;
  /** Includes the folder's contents. */
  readonly recursive?: Recursion;
}

/** The files below a folder that a program uses. */
export interface Recursion {
  /** Dot files, files ignored by `.gitignore`, files that Git does not track. */
  readonly skips: readonly ('hidden' | 'ignored' | 'untracked')[];
  /** Follows links to `files`, or also to folders. Absent: follows no links. */
  readonly follows?: 'files' | 'all';
  /** File name patterns; absent: all. */
  readonly only?: readonly string[];
  /** Patterns of excluded file and folder names. */
  readonly except?: readonly string[];
}

/** Another machine, or a service on this one. */
export interface Host {
  readonly scheme: string;
  /** In lower case. For an alias, such as a Git remote, the alias. */
  readonly host: string;
  readonly port?: number;
  readonly method?: string;
  /** True if it receives data: a body, a file, or a URL with an unknown value. */
  readonly sends: boolean;
}

/** A part of a call that could not be read. */
export interface Unclear {
  /**
   * `syntax`: text that cannot be parsed, or that shells parse differently. `tool`: a tool without a describer, or with an untrusted one.
   * `program`: an unknown program. `words`: unknown files, hosts or options. `code`: a program text. `download`: code of another machine.
   * `project`: workspace code, also if run by a tool such as a test runner. `environment`: a variable that changes programs. `link`: links
   * that were not followed. `limit`: too long, too deep or too many.
   */
  readonly kind:
    | 'syntax'
    | 'tool'
    | 'program'
    | 'words'
    | 'code'
    | 'download'
    | 'project'
    | 'environment'
    | 'link'
    | 'limit';
  /** For a person, without a period. */
  readonly reason: string;
  /** For `words`: the use of the files. */
  readonly use?: 'reads' | 'writes' | 'deletes';
  /** For `words`: the known start and end of the unknown word. */
  readonly begins?: string;
  readonly ends?: string;
}

/** The describers' view of the place where a call runs. */
export interface PlaceView {
  /** Where a relative path starts. Absolute. */
  readonly folder: string;
  /** Absolute, links resolved. */
  readonly workspace: string;
  readonly home?: string;
  /** Without one, links are `unclear`. */
  readonly disk?: Disk;
  /** True if this session wrote the file. */
  written?(path: string): boolean;
  /** Milliseconds, which bound a search of a folder. Default: the time of the machine. */
  now?(): number;
}

/** Synchronous read access to a disk. No method throws. */
export interface Disk {
  /** True if names differing only in letter case are the same file. */
  readonly folds: boolean;
  /** Does not follow links. */
  look(path: string): DiskEntry;
  /** Names in a folder; `undefined` if it cannot be listed. */
  list(path: string): readonly string[] | undefined;
  /** `undefined` unless it is a readable text file of at most `maxBytes`. */
  readText(path: string, maxBytes: number): string | undefined;
}

export type DiskEntry =
  | { readonly type: 'file' | 'folder' | 'missing' | 'other' }
  | { readonly type: 'link'; readonly target: string };

/** The describers' view of a call. */
export interface DescribedCall {
  readonly tool: string;
  readonly input: Json;
}

/** Computes the facts of some tools' calls. */
export interface Describer {
  readonly name: string;
  /** `undefined` for other tools. Synchronous; never throws. */
  describe(call: DescribedCall, view: PlaceView): CallFacts | undefined;
}
