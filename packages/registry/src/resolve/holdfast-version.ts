import type { Problem } from '@holdfast/core/types';
import satisfies from 'semver/functions/satisfies.js';
import validRange from 'semver/ranges/valid.js';
import manifest from '../../package.json' with { type: 'json' };

/** The version of this copy of Holdfast; all its packages have the same version. */
export const holdfastVersion: string = manifest.version;

/**
 * The reason why something does not support Holdfast `version`, or `undefined`. `what` starts the message: "The plugin
 * `git` 2.0.0". The code is `plugin.failed`.
 */
export function findVersionProblem(
  what: string,
  range: string,
  version: string = holdfastVersion,
): Problem | undefined {
  if (validRange(range) === null) {
    const message = `${what} requires Holdfast \`${range.slice(0, 100)}\`, which is not a valid version range such as ^1.2.0.`;
    return { code: 'plugin.failed', reason: 'version.invalid', message };
  }
  if (satisfies(version, range, { includePrerelease: true })) return undefined;
  const message = `${what} requires Holdfast ${range.slice(0, 100)}, and this is ${version}: install a version of it that supports ${version}, or another Holdfast.`;
  return {
    code: 'plugin.failed',
    reason: 'version.mismatch',
    message,
    data: { range: range.slice(0, 100), holdfast: version },
  };
}
