internal import ImageRecipes

/// The steps of several outputs as a tree, in which common first steps are merged: each is executed once.
struct RenderPlan {
    /// A step and the steps that follow from its result.
    struct Node {
        let step: ImageProcessor
        var children: [Int] = []
        /// The outputs whose chain ends at this node.
        var outputs: [Int] = []
    }

    private(set) var nodes: [Node] = []
    /// The nodes of the first steps.
    private(set) var roots: [Int] = []
    /// The outputs without a step.
    private(set) var plain: [Int] = []

    /// The plan of the outputs with the given numbers.
    init(_ outputs: [(number: Int, steps: [ImageProcessor])]) {
        for output in outputs {
            var place: Int?
            for step in output.steps where !step.changesNothing {
                let siblings = place.map { nodes[$0].children } ?? roots
                if let known = siblings.first(where: { nodes[$0].step == step }) {
                    place = known
                } else {
                    nodes.append(Node(step: step))
                    let new = nodes.count - 1
                    if let place { nodes[place].children.append(new) } else { roots.append(new) }
                    place = new
                }
            }
            if let place { nodes[place].outputs.append(output.number) } else { plain.append(output.number) }
        }
    }

    /// `true` when the source is read more than once.
    var hasSeveralReaders: Bool { roots.count + plain.count > 1 }

    /// The outputs at and below a node.
    func outputs(below node: Int) -> [Int] {
        nodes[node].outputs + nodes[node].children.flatMap(outputs(below:))
    }
}
