import type { Problem } from '@holdfast/core';
import satisfies from 'semver/functions/satisfies.js';
import validRange from 'semver/ranges/valid.js';
import manifest from '../../package.json' with { type: 'json' };

/** Of this copy of Holdfast, whose packages all have one version. */
export const holdfastVersion: string = manifest.version;

/**
 * Why something does not work with `version` of Holdfast, `undefined` when it does. `what` begins the message: "The plugin `git` 2.0.0".
 * Its code is `plugin.version.invalid` or `plugin.version.mismatch`.
 */
export function findVersionProblem(
  what: string,
  range: string,
  version: string = holdfastVersion,
): Problem | undefined {
  if (validRange(range) === null) {
    const message = `${what} says that it works with Holdfast \`${range.slice(0, 100)}\`, which is no range of versions such as ^1.2.0.`;
    return { code: 'plugin.version.invalid', message };
  }
  if (satisfies(version, range, { includePrerelease: true })) return undefined;
  const message = `${what} works with Holdfast ${range.slice(0, 100)}, and this is ${version}: install a version of it that works with ${version}, or another Holdfast.`;
  return { code: 'plugin.version.mismatch', message, data: { range: range.slice(0, 100), holdfast: version } };
}
