/** How much larger than its own pixels a page shows an element: CSS may zoom or scale it. */
export function zoomOf(element: Element): number {
  return element.getBoundingClientRect().height / element.clientHeight || 1;
}
