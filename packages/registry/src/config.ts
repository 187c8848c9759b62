import type { JsonObject, Pack, Plugin } from '@holdfast/core';

/** In which kind of process tools of a folder run, weakest first. */
export type ConfigIsolation = 'in-process' | 'worker' | 'subprocess' | 'sandbox';

/** How far a run may go. Whole numbers of at least 1. */
export interface ConfigLimits {
  /** Messages of the model. Default 32. */
  readonly maxRounds?: number;
  /** Calls that are run, nested ones included. */
  readonly maxCalls?: number;
  /** Read and written, as the model reports them. */
  readonly maxTokens?: number;
  /** Of the whole run. */
  readonly timeoutMs?: number;
  /** How long a question waits for a person. Default 24 hours. */
  readonly approvalTimeoutMs?: number;
}

/** A plugin, and how it is used. */
export interface PluginEntry {
  /** A plugin; or the name of an installed package, or a path from the configuration's folder that begins with `./`, each with `#export` where it exports several. */
  readonly plugin: string | Plugin;
  /** Stands before the names of its tools: `git` makes `git_push` of `push`. */
  readonly prefix?: string;
  /** The plugin's options. */
  readonly config?: JsonObject;
}

/** A pack, and how it is used. */
export interface PackEntry {
  /** As `PluginEntry.plugin`; or `plugin/pack`, a pack that a plugin of this configuration offers. */
  readonly pack: string | Pack;
  /** Stands before the ids of its policies. Default: the pack's name. Needed where one pack is used twice. */
  readonly id?: string;
  /** Default `recommended`. */
  readonly preset?: string;
  /** Each option takes the place of the preset's. */
  readonly config?: JsonObject;
  /** Whether its policies are only tried out. Default: as the preset says. */
  readonly observe?: boolean;
}

/** What `holdfast.config.ts` says. Everything may be left out. */
export interface HoldfastConfig {
  readonly plugins?: readonly (string | Plugin | PluginEntry)[];
  /** Guards that are in force. */
  readonly packs?: readonly (string | Pack | PackEntry)[];
  /** Who keeps a name that several plugins have: a tool or command as it would be seen, and the name of a plugin. */
  readonly winners?: Readonly<Record<string, string>>;
  /** Folder of tool files, from the configuration's folder. Default `./plugins`, when there is one. */
  readonly tools?: string;
  /** Whether folders in the tools folder are read, too. Default false. */
  readonly subfolders?: boolean;
  /** Whether there has to be a lock. Default false: it is kept to where there is one. */
  readonly locked?: boolean;
  /** The weakest isolation of tool files. Default `subprocess`. */
  readonly isolation?: ConfigIsolation;
  /** `offline`, `script:<file>`, `<provider>:<model>` or `<plugin>/<model>`. Default `offline`. */
  readonly model?: string;
  /** No other tool may run. Names as a model sees them; an empty list lets none run. */
  readonly allowTools?: readonly string[];
  /** These never run. Names as a model sees them. */
  readonly denyTools?: readonly string[];
  readonly limits?: ConfigLimits;
}

/** A pack that a workspace adds beside those of the host. */
export interface WorkspacePackEntry extends Omit<PackEntry, 'pack' | 'id'> {
  /** One that the host uses or that a plugin of it offers: its name, `plugin/pack`, or as the host's configuration writes it. */
  readonly pack: string;
}

/** What `holdfast.policy.json` of a workspace says. It is data, and can only make things tighter. */
export interface WorkspaceConfig {
  readonly packs?: readonly (string | WorkspacePackEntry)[];
  readonly locked?: boolean;
  readonly isolation?: ConfigIsolation;
  readonly allowTools?: readonly string[];
  readonly denyTools?: readonly string[];
  readonly limits?: ConfigLimits;
}

/** Who has a say, in the order of their word; `workspace` may tighten only. */
export type ConfigLayerName = 'default' | 'host' | 'workspace' | 'command line';

/** Where a value comes from. */
export interface ConfigOrigin {
  readonly layer: ConfigLayerName;
  /** As people write it; absent where it comes from no file. */
  readonly file?: string;
}

/** What one of them says. Its config has been checked: by `defineConfig`, or by whoever read it. */
export type ConfigLayer = { readonly file?: string } & (
  | { readonly layer: 'host' | 'command line'; readonly config: HoldfastConfig }
  | { readonly layer: 'workspace'; readonly config: WorkspaceConfig }
);
