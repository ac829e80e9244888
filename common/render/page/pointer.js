// pointer.js - mouse and touch on a pane.

function listenToPointer(pane) {
    const {app, canvas} = pane;
    const hitOf = (event) => {
        const box = canvas.getBoundingClientRect();
        return pane.hit(event.clientX - box.left, event.clientY - box.top);
    };
    canvas.addEventListener("pointermove", (event) => {
        const at = hitOf(event), same = at && app.hover && app.hover.node === at.node &&
            app.hover.pane === pane;
        app.hover = at;
        canvas.style.cursor = at ? "pointer" : "default";
        if (at && event.pointerType === "mouse") showTooltip(app, at, event.clientX, event.clientY);
        else hideTooltip();
        if (same) return;
        sayCurrent(app);
        pane.redraw();
    });
    canvas.addEventListener("pointerleave", () => {
        app.hover = null;
        hideTooltip();
        sayCurrent(app);
        pane.redraw();
    });
    canvas.addEventListener("click", (event) => {
        const at = hitOf(event);
        hideTooltip();
        if (!at) return;
        app.setFocus(pane, at.node);
        app.zoom(pane, at.node);
    });
    canvas.addEventListener("dblclick", () => app.zoom(pane, 0));
    canvas.addEventListener("contextmenu", (event) => {
        const at = hitOf(event);
        if (!at) return;
        event.preventDefault();
        app.copy(at, false);
    });
}
