/** The page's magnification of an element: CSS may zoom or scale it. */
export function zoomOf(element: Element): number {
  return element.getBoundingClientRect().height / element.clientHeight || 1;
}
