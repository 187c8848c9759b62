import { findPackageJSON } from 'node:module';
import { dirname, join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isPlainObject } from '@holdfast/core';
import { readBounded } from './read-bounded.ts';

const maxManifestBytes = 1024 * 1024;

/**
 * The files that a package may begin with, and its `package.json`, where `importer` is a file of it: Node.js takes that package before any
 * that is installed. Empty for every other name.
 */
export function listOwnEntries(name: string, importer: string): readonly string[] {
  const manifest = findManifest(name, importer);
  if (manifest === undefined || !importer.startsWith(join(dirname(manifest), sep))) return [];
  const reading = readBounded(manifest, maxManifestBytes);
  const fields = reading.type === 'read' ? parse(reading.bytes) : undefined;
  if (fields === undefined) return [manifest];
  // Whatever the conditions: each may be met by somebody.
  const targets = listTexts([fields['exports'], fields['main'] ?? './index.js']).filter(
    (target) => !target.includes('*'),
  );
  return [manifest, ...targets.map((target) => join(dirname(manifest), target))];
}

function findManifest(name: string, importer: string): string | undefined {
  try {
    return findPackageJSON(name, pathToFileURL(importer));
  } catch {
    // There is no such package.
    return undefined;
  }
}

function parse(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const fields: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return isPlainObject(fields) ? fields : undefined;
  } catch {
    // Node.js does not import such a package either.
    return undefined;
  }
}

function listTexts(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listTexts) : [];
}
