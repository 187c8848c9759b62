// Removes the condition that selects sources from packed packages: only this checkout uses it. A program that runs with it here
// can then still load what its users installed.
export const hooks = {
  beforePacking({ exports, ...manifest }) {
    if (exports === undefined) return manifest;
    const targets = Object.entries(exports).map(([subpath, target]) => {
      if (typeof target === 'string') return [subpath, target];
      const { 'holdfast-source': _source, ...published } = target;
      return [subpath, published];
    });
    return { ...manifest, exports: Object.fromEntries(targets) };
  },
};
