/** A package of a `node_modules` folder that says it is one, in its `package.json`: `"holdfast": "plugin"` or `"pack"`. */
export interface InstalledPlugin {
  /** Of the package. */
  readonly name: string;
  /** Empty where it gives none that can be read. */
  readonly version: string;
  readonly kind: 'plugin' | 'pack';
  /** One line; empty where it gives none. */
  readonly description: string;
}

/**
 * The packages that `folder` has installed in its own `node_modules` and that declare themselves, by name. Only their `package.json` is
 * read: nothing of them runs. What cannot be read, or says something else, is passed over.
 */
export declare function findInstalledPlugins(folder: string): Promise<readonly InstalledPlugin[]>;
