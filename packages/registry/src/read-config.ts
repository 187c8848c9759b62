import type { ConfigLayer } from './config.ts';

export interface ReadConfigOptions {
  /** The current directory, absolute: here, and nowhere else, `holdfast.config.ts` is looked for. */
  readonly directory: string;
  /** A file to read instead, from `directory`; false: none is read. */
  readonly file?: string | false | undefined;
  /** The workspace, absolute. Its `holdfast.policy.json` is read as data. */
  readonly workspace?: string | undefined;
}

/** The layers that were found, for `mergeConfig`; the command line's own is the caller's. */
export interface LoadedConfig {
  readonly layers: readonly ConfigLayer[];
}

/**
 * Reads what a host and a workspace say. A configuration is a program: reading it runs its code, with all rights of this process. It is
 * found as `holdfast.config.ts`, `.mts`, `.js` or `.mjs` in `directory`, never in the workspace.
 *
 * @throws HoldfastError `config.missing`, `config.failed`, `config.invalid`, `config.policy.invalid`.
 */
export declare function readConfig(options: ReadConfigOptions): Promise<LoadedConfig>;
