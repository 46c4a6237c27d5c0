/** What has gone wrong, which a screen reader says at once; nothing without words. */

interface AlertProps {
  readonly words: string | null | undefined;
  /** Whether it is within a line. */
  readonly isInline?: boolean;
}

export function Alert({ words, isInline = false }: AlertProps) {
  const Part = isInline ? "span" : "p";
  return words == null ? null : (
    <Part class="ckv-error" role="alert">
      {words}
    </Part>
  );
}
