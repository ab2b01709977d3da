/** Whether a value holds containers inside containers more than `levels` deep; a scalar has depth 0, `[]` has 1. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  const open: { readonly item: unknown; readonly depth: number }[] = [{ item: value, depth: 1 }];
  for (let entry = open.pop(); entry; entry = open.pop()) {
    const { item, depth } = entry;
    if (typeof item !== 'object' || item === null) continue;
    if (depth > levels) return true;
    for (const child of Object.values(item)) open.push({ item: child, depth: depth + 1 });
  }
  return false;
}
