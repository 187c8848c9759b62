import type { Json } from '../basics/json.ts';

/**
 * JSON. What a call would do, as far as it can be read from its tool and input. What could not be read is listed in `unclear`; facts are never a
 * sandbox.
 */
export interface CallFacts {
  /** Each part of a pipeline, list, substitution or wrapper, in the order in which they are written. */
  readonly runs: readonly Command[];
  readonly reads: readonly Place[];
  readonly writes: readonly Place[];
  readonly deletes: readonly Place[];
  readonly hosts: readonly Host[];
  /** The result contains text that outsiders write: a page, a mail, an issue. */
  readonly untrusted: boolean;
  readonly unclear: readonly Unclear[];
}

/** Facts as a record keeps them: the beginning of long texts and of long lists. */
export interface RecordedFacts extends CallFacts {
  /** Something was left out. */
  readonly cut?: true;
}

/** A program that a call starts. */
export interface Command {
  /** As it is written, without the folders of system programs: `git`, `./build.sh`. */
  readonly program: string;
  /** `null`: not known before the command runs; any number of words. */
  readonly arguments: readonly (string | null)[];
  /** Where it runs, absolute; absent: not known. */
  readonly folder?: string;
  /** Names of the variables that are set for it. */
  readonly environment: readonly string[];
  /** The success of the call proves the success of this command. */
  readonly decides: boolean;
  /** The call does not wait for its end. */
  readonly background: boolean;
  /** Positions in `runs` of the commands that succeeded when this one starts, as with `&&`. */
  readonly after: readonly number[];
  /** It runs a file that this session wrote. */
  readonly written: boolean;
}

/** A file or folder. */
export interface Place {
  /** Absolute, links resolved. */
  readonly path: string;
  /** It lies in the workspace. */
  readonly inside: boolean;
  /** Includes the folder's contents. */
  readonly recursive?: Recursion;
}

/** Which of the files below a folder a program takes. */
export interface Recursion {
  /** Names that begin with a dot, what `.gitignore` names, what Git does not track. */
  readonly skips: readonly ('hidden' | 'ignored' | 'untracked')[];
  /** It opens `files` that links lead to, or goes into folders as well. Absent: it leaves links as they are. */
  readonly follows?: 'files' | 'all';
  /** Patterns of file names; absent: all. */
  readonly only?: readonly string[];
  /** Patterns of names of files and folders that are left out. */
  readonly except?: readonly string[];
}

/** Another machine, or a service on this one. */
export interface Host {
  readonly scheme: string;
  /** In lower case. For a name that stands for an address, as a Git remote, that name. */
  readonly host: string;
  readonly port?: number;
  readonly method?: string;
  /** Data goes there: a body, a file, or an address that holds a value which is not known. */
  readonly sends: boolean;
}

/** A part of a call that could not be read. */
export interface Unclear {
  /**
   * `syntax`: a text that cannot be parsed, or that shells read differently. `tool`: a tool that no describer knows, or of which nobody trusts the
   * word. `program`: a program that is not known. `words`: which files,
   * hosts or options. `code`: the text of a program. `download`: code of another machine. `project`: a program of the workspace, or a tool that runs its code, as a test runner does.
   * `environment`: a variable that changes what programs do. `link`: links were not followed. `limit`: too long, too deep or too many.
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
  /** Of `words`: what happens to the files. */
  readonly use?: 'reads' | 'writes' | 'deletes';
  /** Of `words`: how the unknown word begins and ends. */
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
}

/** A disk that is looked at, synchronously. No method throws. */
export interface Disk {
  /** Names that differ in letter case only are one file. */
  readonly folds: boolean;
  /** Follows no link. */
  look(path: string): DiskEntry;
  /** Names in a folder; `undefined` when it cannot be listed. */
  list(path: string): readonly string[] | undefined;
  /** `undefined` unless it is a readable text file of at most `maxBytes`. */
  readText(path: string, maxBytes: number): string | undefined;
}

export type DiskEntry =
  | { readonly type: 'file' | 'folder' | 'missing' | 'other' }
  | { readonly type: 'link'; readonly target: string };

/** A call as a describer sees it. */
export interface DescribedCall {
  readonly tool: string;
  readonly input: Json;
}

/** Makes facts of the calls of some tools. */
export interface Describer {
  readonly name: string;
  /** `undefined`: the tool is none of these. Synchronous; never throws. */
  describe(call: DescribedCall, view: PlaceView): CallFacts | undefined;
}
