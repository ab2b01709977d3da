/** A length of time in words: `350 ms`, `62.5 s`, `60 min`, `2 h 5 min`, `3 d 4 h`. */
export function spanText(ms: number): string {
  const length = Math.max(0, ms);
  if (length < 1_000) return `${Math.round(length)} ms`;
  if (length < 119_950) return `${Math.round(length / 100) / 10} s`;
  const pair = (unit: number, name: string, part: number, partName: string): string => {
    const parts = Math.round(length / part);
    const rest = parts % (unit / part);
    return `${Math.floor(parts / (unit / part))} ${name}${rest === 0 ? '' : ` ${rest} ${partName}`}`;
  };
  if (length < 7_199_500) return pair(60_000, 'min', 1_000, 's');
  if (length < 172_770_000) return pair(3_600_000, 'h', 60_000, 'min');
  return pair(86_400_000, 'd', 3_600_000, 'h');
}
