/** Remembers the last so many ids; `isNew` is true for one that is not among them, and takes it in. */
export function createRecentIds(capacity: number): { isNew(id: string): boolean } {
  const known = new Set<string>();
  return {
    isNew: (id) => {
      if (known.has(id)) return false;
      known.add(id);
      for (const oldest of known) {
        if (known.size <= capacity) break;
        known.delete(oldest);
      }
      return true;
    },
  };
}
