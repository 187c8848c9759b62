/** Longest reason that goes back to a model. */
const maxLength = 1_000;

// Folders under which a machine keeps people's and programs' files, and drive letters. Paths inside the workspace are relative.
const roots = 'home|Users|root|tmp|var|usr|opt|etc|private|mnt|media|srv|work|workspace|app|proc|dev';
const rest = String.raw`[^\s'"\`,;)\]}]*`;
const hostPath = new RegExp(String.raw`file:\/\/${rest}|(?<![\w.:/])\/(?:${roots})\/${rest}|\b[A-Za-z]:\\${rest}`, 'g');
// Control and format characters (escape sequences, direction overrides, zero widths), but for line breaks and tabs.
const invisible = /(?![\n\t])[\p{Cc}\p{Cf}]/gu;

/** Makes a reason fit for a model: no host path, no invisible characters, at most 1,000 characters. */
export function forModel(message: string): string {
  const clean = message.replace(hostPath, '<path>').replace(invisible, '');
  return clean.length <= maxLength ? clean : `${clean.slice(0, maxLength - 1)}…`;
}
