import type { JsonObject, Pack, Plugin, Policy, ResourceDefinition, Section, Slice, Tool } from '@holdfast/core';
import type { PluginCommand, PluginModel } from '@holdfast/core/types';
import type { PackOptions } from '@holdfast/policy';

export interface RegistryOptions {
  /**
   * Resolves name conflicts: from the name of a tool or command, as models and users see it, to the name of a plugin.
   * No other plugin's tool or command with that name, or a similar one, is active, even if the plugin is missing.
   */
  readonly winners?: Readonly<Record<string, string>>;
}

/** The package or file that something was imported from, as far as the importer knows. */
export interface PackageSource {
  /** The npm name: `@acme/holdfast-git`. */
  readonly package?: string;
  /** Version of the package, which should equal that of the plugin or pack. */
  readonly version?: string;
  readonly file?: string;
  /** SHA-256 of the file, in hex. */
  readonly digest?: string;
}

export interface UsePluginOptions {
  /**
   * Prefix of its tools (`git_push`), sections and commands (`git-push`). Lower-case words joined by `_` or `-`, at most 32 characters.
   */
  readonly prefix?: string;
  /** The plugin's options. Default `{}`. */
  readonly config?: JsonObject;
  readonly source?: PackageSource;
  /** Marks its tools as dangerous if they declare neither `dangerous` nor `effects`, as `openRegistry` does. Default false. */
  readonly gateUndeclared?: boolean;
}

export interface UsePackOptions extends PackOptions {
  readonly source?: PackageSource;
}

/** The origin of a contribution. */
export interface Provenance {
  /** The name of the plugin, or of the pack if the host used one directly. */
  readonly plugin: string;
  /** Version of the plugin or pack. */
  readonly version: string;
  readonly package?: string;
  /** Version of the package, if it differs from `version`. */
  readonly packageVersion?: string;
  /** As given by the importer; for a tool loaded from a file, that file, relative to its folder. */
  readonly file?: string;
  /** SHA-256 of the file, in hex. */
  readonly digest?: string;
}

/** A contribution that is inactive or needs approval, and the reason. */
export interface RegistryProblem {
  /** `plugin.failed`, `registry.invalid` or `registry.invalid`. */
  readonly code: string;
  /** The finer kind, if the code has several. */
  readonly reason?: string;
  readonly message: string;
  /** The name of the plugin. */
  readonly plugin: string;
}

/** A plugin that a host uses. */
export interface RegisteredPlugin {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  /** The supported Holdfast versions. */
  readonly holdfast: string;
  readonly prefix: string | undefined;
  /** `left-out`: the plugin is left out. */
  readonly state: 'in-force' | 'left-out';
  /** The reason if it is left out. */
  readonly problem: RegistryProblem | undefined;
  readonly provenance: Provenance;
}

/** An active pack. */
export interface RegisteredPack {
  /** Prefix of its policies' ids: its name, unless the host chose another. */
  readonly id: string;
  readonly pack: Pack;
  readonly preset: string;
  /** True if the decisions of its policies are recorded but not enforced. */
  readonly observe: boolean;
  readonly policies: readonly Policy[];
  readonly provenance: Provenance;
}

/** Tools of a plugin outside its sections, which a host can put into a section. */
export interface LooseTools {
  readonly plugin: string;
  /** Description of the plugin. */
  readonly description: string;
  readonly tools: readonly Tool[];
}

/** The kinds of contributions. */
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

/** The explanation of one contribution. */
export interface Explanation {
  readonly kind: RegisteredKind;
  /**
   * The name in force, with its prefix. Policies are named by id, those of a section by path and id,
   * `files/read-before-write`; sections by path.
   */
  readonly name: string;
  /** `<plugin>/<own name>`; for a plugin or pack, its own name. */
  readonly qualifiedName: string;
  readonly inForce: boolean;
  readonly provenance: Provenance;
  /** E.g. why it is inactive, its prefix, other owners of its name, or a pack's preset. */
  readonly note?: string;
}

/**
 * Active plugins and packs. Immutable: `use` returns a new registry. Lists are in order of use; neither the active
 * contributions nor the policies' decisions depend on that order.
 */
export interface Registry {
  /**
   * Uses a plugin. An error in the plugin leaves out all of it and is listed in `problems`; an error of the host is thrown.
   *
   * @throws HoldfastError `registry.invalid`, `plugin.invalid`.
   */
  use(plugin: Plugin, options?: UsePluginOptions): Registry;
  /**
   * Uses a pack. Any error is thrown, because nothing may run without a requested guard.
   *
   * @throws HoldfastError `registry.invalid`, and the
   * errors of `packPolicies`.
   */
  use(pack: Pack, options?: UsePackOptions): Registry;
  /** All plugins, including those left out. */
  readonly plugins: readonly RegisteredPlugin[];
  readonly problems: readonly RegistryProblem[];
  /** All active tools, including those of sections, under the names that a model sees. */
  readonly tools: readonly Tool[];
  readonly looseTools: readonly LooseTools[];
  /**
   * For the `policies` of a call or run: those of packs, and those of plugins, which apply only to their own tools.
   * Policies of sections are not included.
   */
  readonly policies: readonly Policy[];
  readonly sections: readonly Section[];
  /** Slices outside sections. */
  readonly slices: readonly Slice[];
  /** By `<plugin>/<model>`. */
  readonly models: ReadonlyMap<string, PluginModel>;
  /** By name. */
  readonly resources: ReadonlyMap<string, ResourceDefinition>;
  /** By name in force. */
  readonly commands: ReadonlyMap<string, PluginCommand>;
  /** Packs offered by plugins, by `<plugin>/<pack>`; inactive until the host uses them. */
  readonly packs: ReadonlyMap<string, Pack>;
  readonly packsInForce: readonly RegisteredPack[];
  /** The active tool with a qualified name such as `git/push`, or `undefined`. */
  resolve(qualifiedName: string): Tool | undefined;
  /**
   * Everything with this name, of any kind: the name in force, the plugin's own name, a qualified name, or a policy's
   * name in a log, `host/git-order`.
   */
  explain(name: string): readonly Explanation[];
  /** Everything with its origin, in an order independent of the order of use. */
  toJSON(): unknown;
}
