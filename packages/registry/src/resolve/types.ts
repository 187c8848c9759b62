import type {
  JsonObject,
  Pack,
  Plugin,
  PluginCommand,
  PluginModel,
  Policy,
  ResourceDefinition,
  Section,
  Slice,
  Tool,
} from '@holdfast/core';
import type { PackOptions } from '@holdfast/policy';

export interface RegistryOptions {
  /**
   * Whose a name is that several plugins have: the name of a tool or command, as a model or user meets it, to the name of a plugin.
   * Nobody else's tool or command of that name, or of one that looks like it, is in force, whether the plugin is there or not.
   */
  readonly winners?: Readonly<Record<string, string>>;
}

/** Where something was taken from, as far as whoever imported it knows. */
export interface PackageSource {
  /** As npm knows it: `@acme/holdfast-git`. */
  readonly package?: string;
  /** Of the package, which should be that of the plugin or pack. */
  readonly version?: string;
  readonly file?: string;
  /** SHA-256 of the file, in hex. */
  readonly digest?: string;
}

export interface UsePluginOptions {
  /**
   * Stands before the names of its tools (`git_push`), sections and commands (`git-push`). Lower case words joined by `_` or `-`, 32
   * characters at most.
   */
  readonly prefix?: string;
  /** The plugin's options. Default `{}`. */
  readonly config?: JsonObject;
  readonly source?: PackageSource;
  /** Makes its tools dangerous that say neither `dangerous` nor `effects`, as `openRegistry` does. Default false. */
  readonly gateUndeclared?: boolean;
}

export interface UsePackOptions extends PackOptions {
  readonly source?: PackageSource;
}

/** Who brought something along. */
export interface Provenance {
  /** The name of the plugin; of a pack, for what a host took from a pack. */
  readonly plugin: string;
  /** Of the plugin or pack. */
  readonly version: string;
  readonly package?: string;
  /** Of the package, where it is another than `version`. */
  readonly packageVersion?: string;
  /** As whoever imported it has it; for a tool that was loaded from a file of its own that file, relative to its folder. */
  readonly file?: string;
  /** SHA-256 of the file, in hex. */
  readonly digest?: string;
}

/** Something that stays out of force, or is asked about, and why. */
export interface RegistryProblem {
  /**
   * `plugin.failed`, `plugin.version.mismatch`, `plugin.version.invalid`, `plugin.folders.unloaded`, `plugin.tool.undeclared` or
   * `registry.winner.unused`.
   */
  readonly code: string;
  readonly message: string;
  /** The name of the plugin that it is about. */
  readonly plugin: string;
}

/** A plugin that a host uses. */
export interface RegisteredPlugin {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** The versions of Holdfast that it works with. */
  readonly holdfast: string;
  readonly prefix: string | undefined;
  /** `left-out`: nothing of it is in force. */
  readonly state: 'in-force' | 'left-out';
  /** Why it is left out. */
  readonly problem: RegistryProblem | undefined;
  readonly provenance: Provenance;
}

/** A pack in force. */
export interface RegisteredPack {
  /** What its policies' ids begin with: its name, unless the host gave another. */
  readonly id: string;
  readonly pack: Pack;
  readonly preset: string;
  /** Whether its policies are only tried out. */
  readonly observe: boolean;
  readonly policies: readonly Policy[];
  readonly provenance: Provenance;
}

/** The tools of a plugin that are in none of its sections, so that a host can make one of them. */
export interface LooseTools {
  readonly plugin: string;
  /** Of the plugin. */
  readonly description: string;
  readonly tools: readonly Tool[];
}

/** The kinds of what can be in force. */
export type RegisteredKind =
  | 'plugin'
  | 'tool'
  | 'policy'
  | 'pack'
  | 'section'
  | 'slice'
  | 'model'
  | 'resource'
  | 'command';

/** What there is to say about one thing that a registry knows. */
export interface Explanation {
  readonly kind: RegisteredKind;
  /**
   * As it is met where it is in force: a prefix stands before it. A policy is met by its id, which one of a section has behind the path of
   * the section, `files/read-before-write`; a section by its path.
   */
  readonly name: string;
  /** `<plugin>/<own name>`; a plugin's or pack's own name for itself. */
  readonly qualifiedName: string;
  readonly inForce: boolean;
  readonly provenance: Provenance;
  /** Why it is not in force, what it is prefixed with, who else has the name, which preset of a pack it is. */
  readonly note?: string;
}

/**
 * The plugins and packs in force. Immutable: `use` answers a new one. Lists are in the order of use; which things are in force, and
 * what the policies decide, does not depend on it.
 */
export interface Registry {
  /**
   * What a plugin does wrong costs the plugin: it is left out whole, with a problem. What the host does wrong is thrown.
   *
   * @throws HoldfastError `registry.options.invalid`, `registry.prefix.invalid`, `plugin.config.invalid`, `registry.plugin.duplicate`,
   * `registry.name.conflict`.
   */
  use(plugin: Plugin, options?: UsePluginOptions): Registry;
  /**
   * Nothing runs without a guard that the host asked for: whatever goes wrong with a pack is thrown.
   *
   * @throws HoldfastError `registry.options.invalid`, `registry.pack.duplicate`, `registry.name.conflict`; as `packPolicies`.
   */
  use(pack: Pack, options?: UsePackOptions): Registry;
  /** Those that were used, also those that are left out. */
  readonly plugins: readonly RegisteredPlugin[];
  readonly problems: readonly RegistryProblem[];
  /** Under the names that a model sees; those of sections are among them. */
  readonly tools: readonly Tool[];
  readonly looseTools: readonly LooseTools[];
  /**
   * For the `policies` of a call or run: those of packs in force, and those of plugins, which are asked about their own tools only. Those
   * of sections are not among them.
   */
  readonly policies: readonly Policy[];
  readonly sections: readonly Section[];
  /** Those that plugins contribute beside their sections'. */
  readonly slices: readonly Slice[];
  /** By `<plugin>/<model>`. */
  readonly models: ReadonlyMap<string, PluginModel>;
  /** By name. */
  readonly resources: ReadonlyMap<string, ResourceDefinition>;
  /** By the name in force. */
  readonly commands: ReadonlyMap<string, PluginCommand>;
  /** Those that plugins offer, by `<plugin>/<pack>`: they are in force once the host uses them. */
  readonly packs: ReadonlyMap<string, Pack>;
  readonly packsInForce: readonly RegisteredPack[];
  /** The tool of a qualified name, `git/push`, as it is in force; `undefined` when it is not. */
  resolve(qualifiedName: string): Tool | undefined;
  /** Whatever has this name, of any kind: as it is met, as its plugin calls it, qualified, or as a log names a policy, `host/git-order`. */
  explain(name: string): readonly Explanation[];
  /** Everything with where it comes from, in an order that does not depend on that of use. */
  toJSON(): unknown;
}
