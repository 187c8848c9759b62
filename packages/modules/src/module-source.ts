/** Where module files come from. Paths are relative, with `/`. */
export interface ModuleSource {
  /** For people: a folder's name. */
  readonly name: string;
  /**
   * The text of a file; `undefined` where there is none. Rejects with HoldfastError `modules.path_refused` (it leads out),
   * `modules.unreadable`, `modules.too_large`.
   */
  read(path: string): Promise<string | undefined>;
  /** Tells which file may have changed, or `undefined` where any may have, until it is closed. Absent: nothing ever does by itself. */
  watch?(changed: (path: string | undefined) => void): Promise<ModuleSourceWatch>;
}

export interface ModuleSourceWatch {
  close(): void;
}
