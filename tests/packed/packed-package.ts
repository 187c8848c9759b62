import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createPackageFromTarballData } from '@arethetypeswrong/core';

/** The `package.json` of a package as it is published. */
export interface PublishedManifest {
  readonly name: string;
  readonly version: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

export interface PackedPackage {
  readonly manifest: PublishedManifest;
  readonly tarball: Uint8Array<ArrayBuffer>;
  /** Text by path, relative to the package: `dist/index.js`. */
  readonly files: ReadonlyMap<string, string>;
}

/** Reads every tarball of `folder`, sorted by file name. */
export async function readPackages(folder: string): Promise<readonly PackedPackage[]> {
  const names = (await readdir(folder)).toSorted();
  return Promise.all(names.map(async (name) => readPackage(new Uint8Array(await readFile(join(folder, name))))));
}

function readPackage(tarball: Uint8Array<ArrayBuffer>): PackedPackage {
  const unpacked = createPackageFromTarballData(tarball);
  const start = `/node_modules/${unpacked.packageName}/`;
  const files = new Map(unpacked.listFiles().map((path) => [path.slice(start.length), unpacked.readFile(path)]));
  return { manifest: JSON.parse(files.get('package.json') ?? '') as PublishedManifest, tarball, files };
}
