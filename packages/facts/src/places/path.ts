/** Joins a path to a folder and removes `.` and empty names. Keeps `..`, because a link may precede it. */
export function joinPath(folder: string, path: string): string {
  const whole = path.startsWith('/') ? path : `${folder}/${path}`;
  return `/${splitPath(whole).join('/')}`;
}

/** Absolute, without `.` and empty names. */
export function isPlainPath(path: string): boolean {
  return path.startsWith('/') && !/\/(?:\.?\/|\.?$)/.test(path);
}

export function splitPath(path: string): readonly string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

/** As `cd` resolves a path: `..` removes the name before it. */
export function joinLogically(folder: string, path: string): string {
  const names: string[] = [];
  for (const name of splitPath(joinPath(folder, path))) {
    if (name === '..') names.pop();
    else names.push(name);
  }
  return `/${names.join('/')}`;
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}
