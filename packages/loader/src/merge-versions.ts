import { compareDiagnostics, type Diagnostic, toDiagnostic } from './diagnostic.ts';
import type { FoundVersion, ToolVersion, VersionReading } from './tool-versions.ts';
import { toTwinKey } from './twins.ts';

/** What is in force after a folder was read. */
export interface MergedVersions {
  /** In file order. No two have names that are hard to tell apart. */
  readonly versions: readonly ToolVersion[];
  /** Those of them that stay though their file, as it is now, has no good tool. */
  readonly kept: readonly ToolVersion[];
  /** In file order. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Puts what was found in the place of what was in force. A version whose file is refused now, or whose imports are broken, stays unless
 * another file has a good tool of its name. A version that has not changed stays the same object.
 */
export function mergeVersions(former: readonly ToolVersion[], reading: VersionReading): MergedVersions {
  const before = new Map(former.map((one) => [fileOf(one), one]));
  const diagnostics = [...reading.diagnostics];
  const versions: ToolVersion[] = [];
  const kept: ToolVersion[] = [];
  const taken = new Set<string>();
  const put = ({ version, unkept }: FoundVersion): void => {
    const last = before.get(fileOf(version));
    versions.push(last?.version === version.version ? last : version);
    taken.add(keyOf(version));
    if (unkept !== undefined) diagnostics.push(describeUnkept(version, unkept));
  };

  const doubtful = new Map<string, FoundVersion>();
  for (const one of reading.found) {
    if (one.broken === undefined) put(one);
    else doubtful.set(fileOf(one.version), one);
  }
  for (const one of former) {
    const file = fileOf(one);
    const now = doubtful.get(file);
    const mayStay = now === undefined ? reading.mayStay(one) : one.pin !== undefined;
    if (!mayStay || taken.has(keyOf(one))) continue;
    versions.push(one);
    kept.push(one);
    taken.add(keyOf(one));
    doubtful.delete(file);
    if (now?.broken !== undefined) diagnostics.push(now.broken);
    diagnostics.push(describeKept(one));
  }
  // Offered all the same, as by a load, unless something better has the name.
  for (const one of doubtful.values()) {
    if (!taken.has(keyOf(one.version))) put(one);
    else if (one.broken !== undefined) diagnostics.push(one.broken);
  }

  return {
    versions: versions.sort((left, right) => (fileOf(left) < fileOf(right) ? -1 : 1)),
    kept,
    diagnostics: diagnostics.sort(compareDiagnostics),
  };
}

function fileOf({ runnable }: ToolVersion): string {
  return runnable.tool.file;
}

function keyOf({ runnable }: ToolVersion): string {
  return toTwinKey(runnable.tool.metadata.name);
}

function describeKept({ runnable: { tool } }: ToolVersion): Diagnostic {
  const finding = {
    severity: 'warning' as const,
    code: 'tool.watch.kept',
    message: `\`${tool.metadata.name}\` stays in use as it was when it was last good.`,
    hint: 'Correct what is wrong, or remove the file: then the tool goes, too.',
  };
  return toDiagnostic(finding, { file: tool.file });
}

function describeUnkept({ runnable: { tool } }: ToolVersion, reason: string): Diagnostic {
  const finding = {
    severity: 'warning' as const,
    code: 'tool.watch.unkept',
    message: `\`${tool.metadata.name}\` runs where it lies, and no version of it is kept. ${reason}`,
    hint: 'While its file is wrong, the tool is not there; what it imports is not watched.',
  };
  return toDiagnostic(finding, { file: tool.file });
}
